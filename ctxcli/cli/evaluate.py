"""`ctx kb eval` and `ctx kb calibrate`: how good the answers are, and the threshold and scale that fit."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcli.cli.options import AsJson, Fusion, Kbs, Mode, Quiet, Rerank, WorkspaceDir, checked_way
from ctxcli.cli.output import emit_json, notice
from ctxcli.model.errors import DataError, NotFoundError, UsageError

if TYPE_CHECKING:
    from ctxcli.cli.screen import Screen
    from ctxcli.model.calibration import Fit
    from ctxcli.model.evaluation import Evaluation, KnownQuestion
    from ctxcli.services.asking import Asking

_HEIGHT = 10
_WIDTH = 60


def evaluate(
    questions: Annotated[str, typer.Argument(metavar="QUESTIONS.jsonl", help="Questions with answers; - for stdin.")],
    kb: Kbs = None,
    threshold: Annotated[float | None, typer.Option(min=0, max=1, help="Decline below this score.")] = None,
    mode: Mode = None,
    fusion: Fusion = None,
    rerank: Rerank = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.svg", help="Draw risk against coverage.")] = None,
    suggest_threshold: Annotated[
        bool, typer.Option("--suggest-threshold", help="Print the threshold with the fewest mistakes, and no more.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    workspace: WorkspaceDir = None,
) -> None:
    """Ask QUESTIONS whose answers are known: hits, answers, refusals, risk against coverage."""
    from ctxcli.services import evaluation

    asking = _asking(workspace, kb, threshold, way=(mode, fusion, rerank))
    found = evaluation.evaluate(asking, _read(questions))
    if plot:
        _draw(found, plot)
    if suggest_threshold and not as_json:
        if found.suggested is None:
            raise UsageError(
                "no threshold can be told from these questions",
                code="too_few_questions",
                hint="give some that are answered rightly and some that are not",
            )
        sys.stdout.write(f"{found.suggested}\n")
    elif as_json:
        emit_json(found.document())
    elif not quiet:
        from ctxcli.cli.screen import Screen

        _show(found, Screen(sys.stdout))


def calibrate(
    questions: Annotated[str, typer.Argument(metavar="QUESTIONS.jsonl", help="Your questions; none: made ones.")] = "",
    kb: Annotated[str, typer.Option("--kb", metavar="NAME", help="The knowledge base; else `default`.")] = "default",
    mode: Mode = None,
    fusion: Fusion = None,
    rerank: Rerank = None,
    reset: Annotated[bool, typer.Option("--reset", help="Forget all that was fitted.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be fitted.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    workspace: WorkspaceDir = None,
) -> None:
    """Fit threshold and scale of a knowledge base to your questions, or the threshold to some made out of it."""
    from ctxcli.answering.decision import THRESHOLD
    from ctxcli.model.calibration import Calibration, Fit
    from ctxcli.services import evaluation
    from ctxcli.services import workspace as workspaces
    from ctxcli.storage import calibration

    if reset and (questions or dry_run or mode or fusion or rerank is not None):
        raise UsageError("--reset forgets all that was fitted", hint="give it alone, or with --kb")
    folder = workspaces.find(workspace).kb_folder(kb)
    asking = _asking(workspace, [kb], None, notes=False, way=(mode, fusion, rerank))
    if reset:
        calibration.forget_calibration(folder)
        fit = Fit(Calibration(THRESHOLD))
    else:
        known = _read(questions) if questions else _made(asking, kb)
        fit = evaluation.calibrate(asking, known, default=THRESHOLD, made=not questions)
        if not dry_run:
            calibration.write_calibration(folder, fit, way=asking.knowledge.ranker.name)
    if as_json:
        emit_json(fit.document(kb))
        return
    sys.stdout.write(f"{fit.calibration.threshold}\n")
    for line in _fit_lines(fit, reset=reset):
        notice(f"{kb}: {line}", quiet=quiet)


def _fit_lines(fit: "Fit", *, reset: bool) -> list[str]:
    from ctxcli.model.calibration import AS_IT_IS

    source = "made questions" if fit.made else "questions of yours"
    done = "the default again" if reset else f"fitted to {fit.questions} {source}"
    lines = [f"threshold {fit.calibration.threshold}, {done}"]
    if fit.before is None:
        return lines
    scale = fit.calibration.scale
    brier = f"Brier score of questions left out {fit.after:.3f}, without a scale {fit.before:.3f}"
    if scale == AS_IT_IS:
        return [*lines, f"scores stay as they are; {brier}"]
    return [*lines, f"scores on a scale (shift {scale.shift:+.2f}, slope {scale.slope:.2f}); {brier}"]


def _asking(
    workspace: Path | None,
    kb: Sequence[str] | None,
    threshold: float | None,
    *,
    way: tuple[str | None, str | None, bool | None],
    notes: bool | None = None,
) -> "Asking":
    from ctxcli.services.asking import Asking, Way

    checked_way(*way[:2])
    return Asking.of(workspace=workspace, kb=kb or (), threshold=threshold, notes=notes, way=Way(*way))


def _made(asking: "Asking", kb: str) -> "list[KnownQuestion]":
    from ctxcli.services import evaluation

    chunks = list(asking.knowledge.readers[kb].all_chunks())
    found = list(evaluation.made_questions(chunks))
    if not found:
        raise DataError(
            f"{kb}: too few documents to make questions of",
            code="too_few_questions",
            hint="give questions of your own: ctx kb calibrate QUESTIONS.jsonl",
        )
    return found


def _read(name: str) -> "list[KnownQuestion]":
    from ctxcli.services import evaluation

    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return evaluation.read_questions(data.decode("utf-8-sig").splitlines(), name=name)
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: not UTF-8 ({error})", code="bad_questions", hint="save it as UTF-8") from None
    except OSError as error:
        raise NotFoundError(
            f"{name}: {error.strerror}", code="file_not_found", hint="name a file of questions"
        ) from None


def _show(found: "Evaluation", screen: "Screen") -> None:
    rows = [(name, "–" if value is None else f"{value:.3f}") for name, value in found.figures.items()]
    screen.table(("figure", "value"), rows)
    screen.line()
    screen.line(f"{len(found.outcomes)} questions, threshold {found.threshold:.2f}")
    if found.untold:
        screen.line(f"{found.untold} with neither answer nor place known: no part of answer, right and risk")
    if found.suggested is not None:
        screen.line(f"fewest mistakes at threshold {found.suggested:.2f}")
    screen.line()
    for line in chart(found):
        screen.line(line)


def chart(found: "Evaluation") -> list[str]:
    """Risk (upwards, 0 to 1) against coverage (rightwards, 0 to 1) in characters."""
    columns: list[float | None] = [None] * _WIDTH
    for _, coverage, risk in found.curve:
        columns[min(_WIDTH - 1, int(coverage * _WIDTH))] = risk
    heights: list[float] = []
    for value in columns:
        heights.append(value if value is not None else heights[-1] if heights else 0.0)
    lines = ["risk: share of wrong answers"]
    for row in range(_HEIGHT, 0, -1):
        cells = "".join("█" if height * _HEIGHT >= row - 0.5 else " " for height in heights)
        lines.append(f"{row / _HEIGHT:4.1f} ┤{cells.rstrip()}")
    return [*lines, f"     └{'─' * _WIDTH}", f"      0{'coverage: share of questions answered':^{_WIDTH - 2}}1"]


def _spot(point: tuple[float, float, float]) -> tuple[float, float]:
    """Where a point of the curve lies in the drawing."""
    _, coverage, risk = point
    return 60 + 480 * coverage, 340 - 300 * risk


def _marks(found: "Evaluation") -> str:
    """The threshold that was used, a full dot, and the one with the fewest mistakes, a ring, on the curve."""
    named = [(found.threshold, "threshold", "#0b6")]
    if found.suggested is not None:
        named.append((found.suggested, "fewest mistakes at", "#fff"))
    marks = []
    for at, (threshold, name, fill) in enumerate(named):
        shown = [point for point in found.curve if point[0] >= threshold]
        if shown:
            x, y = _spot(shown[-1])
            marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{fill}" stroke="#0b6" stroke-width="2"/>')
        marks.append(f'<circle cx="76" cy="{56 + 20 * at}" r="5" fill="{fill}" stroke="#0b6" stroke-width="2"/>')
        marks.append(f'<text x="88" y="{60 + 20 * at}">{name} {threshold:.2f}</text>')
    return "".join(marks)


def _draw(found: "Evaluation", target: Path) -> None:
    from ctxcli.storage.files import write_text

    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (_spot(one) for one in found.curve))
    ticks = "".join(
        f'<text x="{60 + 480 * at / 5:.0f}" y="360" text-anchor="middle">{at / 5:.1f}</text>'
        f'<text x="50" y="{344 - 300 * at / 5:.0f}" text-anchor="end">{at / 5:.1f}</text>'
        f'<path d="M60 {340 - 300 * at / 5:.0f}H540" stroke="#ddd"/>'
        for at in range(6)
    )
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 570 400" font-family="sans-serif" font-size="12">'
        f'<rect width="570" height="400" fill="#fff"/>{ticks}<path d="M60 40V340H540" fill="none" stroke="#333"/>'
        f'<polyline points="{points}" fill="none" stroke="#0b6" stroke-width="2"/>{_marks(found)}'
        '<text x="300" y="385" text-anchor="middle">coverage: share of questions answered</text>'
        '<text x="16" y="190" text-anchor="middle" transform="rotate(-90 16 190)">risk: share of wrong answers</text>'
        f'<text x="300" y="24" text-anchor="middle">{len(found.outcomes)} questions</text></svg>\n'
    )
    try:
        write_text(target, svg)
    except OSError as error:
        raise DataError(f"{target}: {error.strerror}", code="unwritable", hint="name another file") from error
