"""`ctx ask`: answer a question, or decline."""

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

from ctxcli.cli.ask_arguments import AskRequest
from ctxcli.cli.output import emit_json, end, has_colour, is_terminal, prepare_streams, user_errors, warn
from ctxcli.model.errors import CtxError, ExitCode, UsageError

if TYPE_CHECKING:
    from ctxcli.model.answer import Answer
    from ctxcli.services.asking import Asking


def run(request: AskRequest) -> int:
    """Do what was asked; returns the exit code, or raises SystemExit with that of an error."""
    prepare_streams()
    as_json = request.as_json or request.format == "json"
    code = ExitCode.OK
    with user_errors(as_json=as_json):
        code = _run(request, as_json=as_json)
    return int(code)


def _run(request: AskRequest, *, as_json: bool) -> ExitCode:
    from ctxcli.services.asking import Asking, Way

    _check(request)
    asking = Asking.of(
        workspace=request.workspace,
        kb=request.kb,
        sources=request.sources,
        read_stdin=_read_stdin,
        threshold=request.threshold,
        notes=request.notes,
        top_k=request.top_k,
        way=Way(request.mode, request.fusion, request.rerank),
    )
    answer_to = _answerer(request, asking)
    if request.batch:
        return _batch(request, answer_to)
    question = request.question if request.question != "-" else sys.stdin.read()
    if not question.strip():
        raise UsageError("the question is empty", hint='ask one: ctx ask "…"')
    answer = answer_to(question.strip())
    _show(answer, request, as_json=as_json)
    if is_terminal(sys.stdout):
        asking.remember(answer)
    return ExitCode.DECLINED if answer.declined else ExitCode.OK


def _check(request: AskRequest) -> None:
    """UsageError where an option has no such value, or of two one would be ignored."""
    if request.format not in {None, "text", "md", "json"}:
        raise UsageError(f"--format {request.format}: no such format", hint="use text, md or json")
    if request.threshold is not None and not 0 <= request.threshold <= 1:  # no number at all
        raise UsageError(f"--threshold {request.threshold}: no share", hint="give a number from 0 to 1")
    if not (request.question or request.batch):
        raise UsageError("there is no question", hint='ask one: ctx ask "…"')
    if request.question and request.batch:
        raise UsageError("a question and --batch do not go together", hint="leave one of them out")
    if request.as_json and request.format not in (None, "json"):
        raise UsageError(f"--json and --format {request.format} do not go together", hint="leave one of them out")
    if request.batch and request.format not in (None, "json"):
        raise UsageError(
            f"--batch prints JSON, a document a line, and --format {request.format} does not go with it",
            hint="leave --format out",
        )
    if request.sources and request.kb:
        raise UsageError("--from asks files and --kb an index", hint="leave one of them out")
    if request.sources and request.notes:
        raise UsageError("--from asks files alone, and --notes the notes too", hint="leave one of them out")
    if [request.question, request.batch, *set(request.sources)].count("-") > 1:
        raise UsageError("only one thing can be read from standard input", hint="put the others into files")


def _answerer(request: AskRequest, asking: "Asking") -> Callable[[str], "Answer"]:
    """What answers a question: excerpts, or a language model where the user asked for one."""
    if asking.by_model if request.llm is None else request.llm:
        from ctxcli.services.llm_answering import answerer

        return answerer(asking, model=request.model, with_evidence=request.evidence)
    if request.model is not None:
        raise UsageError("--model names a language model, but none is asked", hint="add --llm")
    return lambda question: asking.ask(question, with_evidence=request.evidence)


def _read_stdin() -> bytes:
    return sys.stdin.buffer.read()


def _show(answer: "Answer", request: AskRequest, *, as_json: bool) -> None:
    for doc in dict.fromkeys(passage.doc for passage in answer.citations if passage.stale):
        warn(f"{doc} has changed since it was indexed; bring it up to date with: ctx kb index", quiet=request.quiet)
    if answer.removed_citations and not as_json:
        warn(f"citations of the model that did not hold, removed: {answer.removed_citations}", quiet=request.quiet)
    if as_json:
        from ctxcli.model.documents import answer_document

        emit_json(answer_document(answer, with_evidence=request.evidence))
        return
    from ctxcli.cli.ask_view import as_markdown, as_text, evidence_lines
    from ctxcli.cli.wrapping import terminal_width

    width = terminal_width(sys.stdout)
    if request.format == "md":
        text = as_markdown(answer, cite=request.cite)
    else:
        text = as_text(answer, cite=request.cite, colour=has_colour(sys.stdout), width=width)
    if request.evidence:
        text += "\n" + "\n".join(evidence_lines(answer, width))
    sys.stdout.write(text + "\n")


def _batch(request: AskRequest, answer_to: Callable[[str], "Answer"]) -> ExitCode:
    """One document a line for each question of a file; a line that cannot be read gives an error line."""
    from ctxcli.model.documents import answer_document

    failed = False
    for number, line in enumerate(_lines(request.batch or "-"), 1):
        if not line.strip():
            continue
        found: dict[str, Any]
        try:
            name, question = _question(line)
            document = answer_document(answer_to(question), with_evidence=request.evidence)
            found = {"schema": document.pop("schema"), "id": name, **document}
        except _BadLineError as error:
            failed = True
            problem = {"code": "bad_line", "message": error.message, "hint": error.hint, "line": number}
            found = {"schema": "ctx/error/1", "error": problem}
            if error.name is not None:
                found["id"] = error.name
        emit_json(found)
    return ExitCode.PARTIAL if failed else ExitCode.OK


class _BadLineError(CtxError):
    def __init__(self, message: str, name: str | None = None) -> None:
        super().__init__(message, code="bad_line", hint='each line is {"id": "…", "question": "…"}')
        self.name = name


def _question(line: bytes) -> tuple[str, str]:
    import json

    try:
        row = json.loads(line.decode("utf-8-sig"))
    except ValueError as error:
        raise _BadLineError(f"not JSON: {error}") from None
    except RecursionError:
        raise _BadLineError("not JSON: nested too deeply") from None
    if not isinstance(row, dict):
        raise _BadLineError("not a JSON object")
    name = row.get("id")
    if not isinstance(name, str):
        raise _BadLineError("`id` is missing or no string")
    question = row.get("question")
    if not isinstance(question, str) or not question.strip():
        raise _BadLineError("`question` is missing, empty or no string", name)
    return name, question


def _lines(path: str) -> Iterator[bytes]:
    if path == "-":
        yield from sys.stdin.buffer
        return
    try:
        stream = open(path, "rb")  # noqa: SIM115, PTH123 - closed below; pathlib is not needed for it
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", code="file_not_found", hint="name a file of questions") from None
    with stream:
        yield from stream


def _typer_command() -> Any:
    """The same command for Typer: help, completion and everything that is not plain."""
    from pathlib import Path

    import typer

    from ctxcli.cli.options import AsJson, Fusion, Kbs, Mode, Notes, Quiet, Rerank, WorkspaceDir, checked_way, given

    def ask(
        question: Annotated[str, typer.Argument(help="The question; - reads it from standard input.")] = "",
        cite: Annotated[bool, typer.Option("--cite", help="Show each source with its quote.")] = False,
        kb: Kbs = None,
        notes: Notes = None,
        top_k: Annotated[int | None, typer.Option(min=1, help="Ranked chunks to look at; else `ask.top_k`.")] = None,
        threshold: Annotated[float | None, typer.Option(min=0, max=1, help="Decline below this score.")] = None,
        llm: Annotated[
            bool | None, typer.Option("--llm/--no-llm", help="Let a language model word the answer from the excerpts.")
        ] = None,
        model: Annotated[
            str | None, typer.Option(metavar="M", parser=given, help="The language model; else CTX_MODEL.")
        ] = None,
        format: Annotated[
            str | None, typer.Option(metavar="text|md|json", help="Form of the answer; else text.")
        ] = None,
        source: Annotated[
            list[str] | None,
            typer.Option("--from", metavar="FILE", parser=given, help="Ask this file, not an index; - for stdin."),
        ] = None,
        batch: Annotated[
            str | None, typer.Option(metavar="QUESTIONS.jsonl", parser=given, help="Ask every question of a file.")
        ] = None,
        mode: Mode = None,
        fusion: Fusion = None,
        rerank: Rerank = None,
        evidence: Annotated[bool, typer.Option("--evidence", help="Add the ranked chunks.")] = False,
        as_json: AsJson = False,
        quiet: Quiet = False,
        workspace: WorkspaceDir = None,
    ) -> None:
        """Answer QUESTION from the indexed documents, every sentence cited; exit 4 where they do not say."""
        checked_way(mode, fusion)
        request = AskRequest(
            question, cite, kb or [], notes, top_k, threshold, llm, model, format, source or [], batch, evidence,
            as_json, quiet,
            str(workspace) if isinstance(workspace, Path) else None, mode, fusion, rerank,
        )  # fmt: skip
        end(ExitCode(run(request)))

    return ask


def __getattr__(name: str) -> Any:
    if name == "ask":
        return _typer_command()
    raise AttributeError(name)
