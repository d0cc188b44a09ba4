"""From the chosen windows to the text of an answer."""

from collections.abc import Sequence

from ctxcli.answering.evidence import Window

ELLIPSIS = "…"


def answer_text(windows: Sequence[Window]) -> str:
    """The excerpts, each followed by its number in brackets; a cut one ends in an ellipsis."""
    parts = []
    for number, window in enumerate(windows, 1):
        text = window.text.strip()
        cut = _is_cut(window)
        parts.append(f"{text}{ELLIPSIS if cut else ''} [{number}]")
    joint = "\n\n" if any("\n" in window.text.strip() for window in windows) else " "
    return joint.join(parts)


def _is_cut(window: Window) -> bool:
    """Whether the window ends inside a unit."""
    return not any(end == window.end for _, end, _ in window.match.chunk.units)
