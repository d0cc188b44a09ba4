"""`ctx chat`: a conversation with a language model that uses the tools."""

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcli.cli.options import AllowWrite, AsJson, Quiet, WorkspaceDir
from ctxcli.cli.output import emit_json, is_terminal, notice, user_errors, visible, warn
from ctxcli.model.errors import CtxError, UsageError

if TYPE_CHECKING:
    from ctxcli.model.chat import ToolUse
    from ctxcli.services.chat import Chat

_POLICIES = "full|window|weighted|summary|structured|hierarchical"
_ENDS = frozenset({"/exit", "/quit", "exit", "quit"})


def chat(
    message: Annotated[str | None, typer.Argument(help="One message; else they are read one by one.")] = None,
    session: Annotated[
        str | None, typer.Option("--session", "-s", metavar="S", help="Go on with it, or begin it.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", metavar="M", help="The model; else CTX_MODEL.")] = None,
    policy: Annotated[
        str, typer.Option("--policy", "-p", metavar=_POLICIES, help="What is remembered.")
    ] = "structured",
    max_iter: Annotated[int, typer.Option(min=0, help="Rounds of tool calls for a message, at most.")] = 8,
    allow_write: AllowWrite = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    workspace: WorkspaceDir = None,
) -> None:
    """Talk with a language model that searches documents and notes with the tools of ctx. Sends them to the model.

    On a terminal: Ctrl-C stops an answer, Ctrl-D or /exit ends. Elsewhere standard input is one message.
    """
    with user_errors(as_json=as_json):
        from ctxcli.services.chat import Chat

        talks = message is None and sys.stdin is not None and sys.stdin.isatty() and not as_json
        text = "" if talks else _message(message)
        talk = Chat.of(
            workspace=workspace, session=session, model=model, policy=policy, max_iter=max_iter, allow_write=allow_write
        )
        if talks:
            _converse(talk, quiet=quiet)
        else:
            _answer(talk, text, as_json=as_json, quiet=quiet)


def _message(given: str | None) -> str:
    """The one message that there is: the argument, or standard input."""
    text = given if given not in (None, "-") else sys.stdin.read() if sys.stdin else ""
    if not (text or "").strip():
        raise UsageError("there is no message", hint='say something: ctx chat "…"')
    return (text or "").strip()


def _converse(talk: "Chat", *, quiet: bool) -> None:
    """Messages read from the terminal until it ends; an answer that fails or is stopped does not end it."""
    with suppress(ImportError):
        import readline  # noqa: F401 - lets lines be edited

    notice("Ctrl-C stops an answer; Ctrl-D or /exit ends.", quiet=quiet)
    while True:
        try:
            text = input("> ").strip()
        except EOFError:
            sys.stdout.write("\n")
            return
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            continue
        if text in _ENDS:
            return
        if not text:
            continue
        try:
            _answer(talk, text, as_json=False, quiet=quiet)
        except KeyboardInterrupt:
            sys.stdout.write(" [interrupted]\n")
        except CtxError as error:
            warn(f"{error.message} ({error.hint})" if error.hint else error.message)


def _answer(talk: "Chat", text: str, *, as_json: bool, quiet: bool) -> None:
    shown = _Shown(as_json=as_json, quiet=quiet)
    turn = talk.answer(text, on_text=shown.text, on_call=shown.call, on_result=shown.result)
    for one in talk.notices():
        warn(one, quiet=quiet)
    if as_json:
        emit_json(turn.document(session=talk.session, question=text))
        return
    shown.end_line()
    if not turn.whole:
        warn("the answer is cut: it has reached the limit of tokens (llm.max_tokens)", quiet=quiet)
    if turn.unbacked:
        warn(f"in nothing that the model was shown: {', '.join(one[:100] for one in turn.unbacked)}", quiet=quiet)
    if is_terminal(sys.stderr):
        notice(f"({turn.usage.prompt_tokens:,} + {turn.usage.completion_tokens:,} tokens)", quiet=quiet)


class _Shown:
    """What is seen while a turn goes on: text on stdout as it comes, tool calls on stderr between."""

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self._as_json, self._quiet = as_json, quiet
        self._in_line = False

    def text(self, piece: str) -> None:
        if not self._as_json:
            sys.stdout.write(visible(piece))
            sys.stdout.flush()
            self._in_line = not piece.endswith("\n")

    def call(self, name: str, arguments: str) -> None:
        self.end_line()
        notice(f"· {name} {' '.join(arguments.split())[:200]}", quiet=self._quiet)

    def result(self, use: "ToolUse") -> None:
        if use.failed:
            notice("  failed; the model is told why", quiet=self._quiet)

    def end_line(self) -> None:
        if self._in_line:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._in_line = False
