"""What leaves the command line: one JSON document or one view on stdout, all else on stderr, and the exit code.

Nothing heavy is imported here: `ctx ask` comes this way.
"""

import errno
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from ctxcli.model.errors import CtxError, DataError, ExitCode, UsageError, error_document

if TYPE_CHECKING:
    from ctxcli.cli.screen import Screen


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f]")
"""What could steer a terminal, end a line, or turn the order of what is shown around (bidirectional overrides)."""


def prepare_streams() -> None:
    """UTF-8 with LF on all three streams, whatever the locale says; what cannot be encoded is shown escaped."""
    if sys.stdout is None:  # started with a closed stdout: what is written to this one fails, as it should
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        _reconfigure(stream, errors="backslashreplace", newline="\n")
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123
    _reconfigure(sys.stdin, errors="surrogateescape")


def _reconfigure(stream: Any, **options: str) -> None:
    with suppress(AttributeError, ValueError):  # a stream that a caller put in place of the real one
        stream.reconfigure(encoding="utf-8", **options)


def emit(value: Any, *, as_json: bool, view: "Callable[[Any, Screen], None]", quiet: bool = False) -> None:
    """Print a report value: its JSON document, or its view; nothing where `quiet` and not JSON."""
    if as_json:
        emit_json(value)
    elif not quiet:
        from ctxcli.cli.screen import Screen

        view(value, Screen(sys.stdout))


def emit_json(value: Any) -> None:
    """Print one JSON document on one line."""
    import json

    if not isinstance(value, dict):
        from ctxcli.model.report import document  # costs more than printing does

        value = document(value)
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def emit_line(text: str) -> None:
    """Print one line of data: as it is, but harmless on a terminal."""
    sys.stdout.write(f"{visible(text) if is_terminal(sys.stdout) else text}\n")


def notice(text: str, *, quiet: bool = False) -> None:
    """Say something on stderr."""
    if not quiet:
        _say(f"{visible(text)}\n")


def warn(text: str, *, quiet: bool = False) -> None:
    """Say on stderr that something is not as it should be."""
    if not quiet:
        _say(f"{_paint('warning:', '33')} {visible(text)}\n")


def _say(text: str) -> None:
    """Write to stderr; one that takes nothing more (a full disk, a closed pipe) ends no work, and is left alone."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123


def visible(text: str) -> str:
    """The text without characters that could steer a terminal or deceive: they are shown as ``\\x1b``, ``\\u202e``."""
    return text if text.isprintable() else _CONTROL.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def has_colour(stream: TextIO) -> bool:
    """Whether to colour: on a terminal unless NO_COLOR or TERM=dumb; always with FORCE_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(stream)


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at the stream through something that can move its cursor."""
    try:
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:  # closed
        return False


def _paint(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if has_colour(sys.stderr) else text


@contextmanager
def user_errors(*, as_json: bool = False) -> Iterator[None]:
    """End the process with a line and a code where something goes wrong inside.

    A closed pipe ends quietly. CTX_DEBUG=1 shows the traceback of any error.
    """
    try:
        yield
        sys.stdout.flush()
    except CtxError as error:
        raise SystemExit(fail(error, as_json=as_json)) from None
    except BrokenPipeError:
        _silence_stdout()
        raise SystemExit(ExitCode.OK) from None
    except KeyboardInterrupt:
        _say("interrupted\n")
        raise SystemExit(ExitCode.INTERRUPTED) from None
    except OSError as error:
        problem = _unwritable(error)
        if problem is None:
            raise SystemExit(fail_as_bug(error, as_json=as_json)) from None
        _silence_stdout()
        raise SystemExit(fail(problem, as_json=False)) from None
    except Exception as error:
        if type(error).__module__.startswith("typer"):  # its own way to end or to complain
            raise
        raise SystemExit(fail_as_bug(error, as_json=as_json)) from None


def _unwritable(error: OSError) -> DataError | None:
    """The error of a disk that is full or a stdout that is closed, None where it is another one."""
    if error.errno == errno.EBADF:
        return DataError("standard output is closed", code="stdout_closed", hint="leave it open, or send it to a file")
    if error.errno in {errno.ENOSPC, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC)}:
        reason = (error.strerror or "").lower()
        return DataError(f"nothing more can be written: {reason}", code="disk_full", hint="free some space")
    return None


def fail(error: CtxError, *, as_json: bool) -> int:
    """Report an error of the user's; returns the exit code."""
    _show_traceback()
    _report(error.code, error.message, error.hint, as_json=as_json)
    return int(error.exit_code)


def fail_as_bug(error: Exception, *, as_json: bool) -> int:
    """Report an error of ours; returns the exit code."""
    _show_traceback()
    message = f"{type(error).__name__}: {error} (this is a bug in ctx)"
    _report("bug", message, "run again with CTX_DEBUG=1 and report what it shows", as_json=as_json)
    return int(ExitCode.BUG)


def _report(code: str, message: str, hint: str, *, as_json: bool) -> None:
    _say(f"{_paint('error:', '31')} {visible(one_line(message))}\n")
    if hint:
        _say(f"{_paint('hint:', '36')} {visible(one_line(hint))}\n")
    if as_json:
        try:
            emit_json(error_document(code, message, hint))
            sys.stdout.flush()
        except OSError:  # it has been said on stderr
            _silence_stdout()


def one_line(text: str) -> str:
    """The text without line ends."""
    return " ".join(text.split("\n")).strip()


def _show_traceback() -> None:
    if os.environ.get("CTX_DEBUG"):
        import traceback

        traceback.print_exc()


def _silence_stdout() -> None:
    """Keep the interpreter from writing once more, when it ends, where nothing can be written."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def end(code: ExitCode) -> NoReturn:
    """End with an exit code that is no error: declined, partial."""
    sys.stdout.flush()
    raise SystemExit(int(code))


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be undone; off a terminal ``--yes`` is needed."""
    if yes:
        return
    if not (sys.stdin and sys.stdin.isatty()):
        raise UsageError(f"{question} needs --yes", hint="there is no terminal to ask on")
    sys.stderr.write(f"{visible(question)} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes", "j", "ja", "是", "好"):
        raise UsageError("nothing was done", code="not_confirmed")


def wants_json(arguments: list[str]) -> bool:
    """Whether ``--json`` is among the options, for errors that come before they are parsed."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def as_mapping(schema: str, **fields: Any) -> Mapping[str, Any]:
    """A document without a value class of its own."""
    return {"schema": schema, **fields}
