"""The text that a command on notes is given: an argument, a file, standard input or an editor."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ctxcli.cli.output import notice
from ctxcli.model.errors import CtxError, NotFoundError, ServiceError, UsageError

_WAITS = {
    "code",
    "code-insiders",
    "codium",
    "cursor",
    "windsurf",
    "subl",
    "atom",
    "zed",
    "gedit",
    "mate",
    "kate",
    "xed",
}
"""Editors that return at once unless they are told to wait."""
_WAIT = {"mate": "-w", "kate": "--block"}


def given_text(*, content: str | None = None, file: str | None = None, source: str | None = None) -> str | None:
    """The text of ``--content``, ``--file`` or ``-``; None where none is given, UsageError for more than one."""
    if source is not None and source != "-":
        raise UsageError(f"unexpected argument {source!r}", hint='put the title in quotes; "-" reads standard input')
    if sum(one is not None for one in (content, file, source)) > 1:
        raise UsageError("--content, --file and - do not go together", hint="leave all but one of them out")
    if source == "-" or content == "-" or file == "-":
        return read_stdin()
    if file is not None:
        if not file.strip():
            raise UsageError("the name of the file is empty", code="empty_path", hint="name a file, or - for stdin")
        try:
            return decoded(Path(file).read_bytes())
        except FileNotFoundError:
            raise NotFoundError(f"{file} does not exist", code="path_not_found", hint="check the path") from None
        except OSError as error:
            raise UsageError(f"{file} cannot be read: {(error.strerror or '').lower()}", code="unreadable") from error
    return content


def read_stdin() -> str:
    """All of standard input as text."""
    return decoded(sys.stdin.buffer.read()) if sys.stdin else ""


def holds_unread_text() -> bool:
    """Whether text waits on standard input. Never reads, never waits: a pipe may be open with nobody to write to it.

    What is there is not taken unasked either: it may be meant for others, as the lines of a shell's `while read`.
    """
    import stat

    try:
        descriptor = sys.stdin.fileno()
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            return os.lseek(descriptor, 0, os.SEEK_CUR) < status.st_size
        if not stat.S_ISFIFO(status.st_mode) or os.name == "nt":
            return False
        import fcntl
        import termios

        return any(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)))
    except (OSError, ValueError, AttributeError):  # closed, or put in place of the real one
        return False


def decoded(data: bytes) -> str:
    """The text of a file without its last line end, which belongs to the file."""
    from ctxcli.parsing import notes as parsing

    found = parsing.decode(data)
    if found.encoding != "utf-8":
        notice(f"the text was read as {found.encoding}")
    return found.text.removesuffix("\n").removesuffix("\r")


def on_terminal() -> bool:
    """Whether somebody sits there who could use an editor."""
    try:
        return bool(sys.stdin and sys.stdin.isatty() and sys.stderr.isatty())
    except ValueError:
        return False


def editor(configured: str) -> list[str]:
    """The editor's command with its arguments: the setting, ``$VISUAL``, ``$EDITOR``, or one that is there."""
    import shlex
    import shutil

    named = configured or os.environ.get("VISUAL", "") or os.environ.get("EDITOR", "")
    if named.strip():
        try:
            words = shlex.split(named, posix=os.name != "nt")
        except ValueError as error:
            raise UsageError(f"the editor {named!r} cannot be read: {error}", code="bad_editor") from None
    else:
        words = [next((one for one in ("editor", "nano", "vi", "notepad") if shutil.which(one)), "")]
    if not words or not words[0]:
        raise UsageError("there is no editor", code="no_editor", hint="set $EDITOR")
    name = Path(words[0]).stem.lower()
    wait = _WAIT.get(name, "--wait")
    return [*words, wait] if name in _WAITS and not {wait, "--wait", "-w"} & set(words) else words


def edit_file(command: Sequence[str], path: Path) -> None:
    """Open the editor on a file and wait for its end; on a terminal only."""
    import subprocess

    if not on_terminal():
        raise UsageError("there is no terminal for an editor", code="no_terminal", hint="use --content, --file or -")
    screen = None if sys.stdout.isatty() else sys.stderr.fileno()
    try:
        done = subprocess.run([*command, str(path)], stdout=screen, check=False)
    except OSError as error:
        raise UsageError(
            f"the editor {command[0]!r} cannot be started: {(error.strerror or '').lower()}",
            code="bad_editor",
            hint="set $EDITOR",
        ) from error
    if done.returncode:
        raise ServiceError(
            f"the editor ended with code {done.returncode}; nothing was saved", code="editor_failed", hint=f"see {path}"
        )


def edited(command: Sequence[str], data: bytes, name: str) -> tuple[bytes, Path]:
    """Let a text be edited in a file of its own; the new bytes, and the file, which the caller removes."""
    import tempfile

    path = Path(tempfile.mkdtemp(prefix="ctx-edit-")) / name
    path.write_bytes(data)
    try:
        edit_file(command, path)
    except CtxError as error:
        if error.code != "editor_failed" or path.read_bytes() == data:
            forget(path)
        raise
    return path.read_bytes(), path


def forget(path: Path) -> None:
    """Remove an edited file and what the editor left beside it."""
    import shutil

    shutil.rmtree(path.parent, ignore_errors=True)


def open_file(path: Path) -> None:
    """Open a file as a double click would."""
    import shutil
    import subprocess

    if sys.platform == "win32":
        os.startfile(path)
        return
    opener = "open" if sys.platform == "darwin" else "xdg-open"
    if not shutil.which(opener):
        raise UsageError(f"there is no program {opener}", code="no_opener", hint="use: ctx note edit")
    done = subprocess.run([opener, str(path)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise ServiceError(
            f"{opener} ended with code {done.returncode}", code="opener_failed", hint="use: ctx note edit"
        )
