"""`ctx kb explain`: why a question got its answer, or which stage lost a passage."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcli.cli.options import AsJson, Kbs, Quiet, WorkspaceDir
from ctxcli.cli.output import emit_json
from ctxcli.model.errors import UsageError

if TYPE_CHECKING:
    from ctxcli.cli.screen import Screen
    from ctxcli.model.explanation import Explanation

_FEATURES = {
    "bmn": "BM25 of the best chunk, as a share of its highest value",
    "shown": "share of the question in what would be shown",
    "two": "share of the question in the best two chunks with their headings",
    "lead": "lead over the next four chunks",
    "typ": "a date, number or name of the asked kind stands there",
    "ent": "share of the question's names that stand there",
    "num": "share of its numbers, models and codes that stand there",
    "miss": "weight of the heaviest missing word, as a share of the heaviest",
    "unit": "probability that its best sentence answers",
    "terms": "length of the question, ln(1 + words)",
}


def explain(
    question: Annotated[str, typer.Argument(help="The question; - reads it from stdin.")],
    expect: Annotated[str, typer.Option(metavar="DOC[#SECTION]", help="The passage that should have been found.")] = "",
    kb: Kbs = None,
    threshold: Annotated[float | None, typer.Option(min=0, max=1, help="Decline below this score.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    workspace: WorkspaceDir = None,
) -> None:
    """Tell why QUESTION got its answer; with --expect, which stage lost the passage."""
    from ctxcli.services.asking import Asking
    from ctxcli.services.explanation import explain as explained

    question = sys.stdin.read() if question == "-" else question
    if not question.strip():
        raise UsageError("the question is empty", hint='give one: ctx kb explain "…"')
    asking = Asking.of(workspace=workspace, kb=kb or (), threshold=threshold)
    found = explained(asking.knowledge, question, threshold=asking.threshold, expect=expect)
    if as_json:
        emit_json(found.document())
    elif not quiet:
        from ctxcli.cli.screen import Screen

        _show(found, Screen(sys.stdout))


def _show(found: "Explanation", screen: "Screen") -> None:
    from ctxcli.cli.ask_view import place
    from ctxcli.text.question import language_of

    verdict = "declined" if found.declined else "answered"
    screen.line(f"{verdict}: score {found.score:.2f}, threshold {found.threshold:.2f}", style="bold")
    if found.expected:
        rank = f", rank {found.expected.rank}" if found.expected.rank else ""
        expected = f"{found.expected.doc}{'#' if found.expected.section else ''}{found.expected.section}"
        stage = found.expected.stage.replace("_", " ")
        screen.line(f"expected {expected}: {stage}{rank}: {found.expected.why}", style="bold")
    screen.line()
    rows = [
        (one.term, one.chunks, one.weight, " ".join(map(str, one.hits)), " ".join(one.related)) for one in found.terms
    ]
    screen.table((f"term of {len(rows)}", f"chunks of {found.chunks}", "weight", "in hits", "or like it"), rows)
    screen.line()
    for number, hit in enumerate(found.hits, 1):
        screen.line(f"{number}. {hit.score:.2f}  {place(hit, language_of(found.question))}", hang=9)
        screen.line(f"   {hit.quote.splitlines()[0] if hit.quote else ''}", style="dim")
    if found.features:
        screen.line()
        screen.table(("value", "what the decision looks at"), [(v, _FEATURES[n]) for n, v in found.features.items()])
