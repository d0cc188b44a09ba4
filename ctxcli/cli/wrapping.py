"""Text in the columns of a terminal: Chinese takes two each, and lines are broken between words."""

import os
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import TextIO

from ctxcli.cli.output import is_terminal

_LETTER = (
    "\u2e80-\u2fff\u3041-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_OPENING = "（「『“《〈【〔［"
_CLOSING = "，。、；：？！）」』”》〉】〕］…％"


@cache
def _piece() -> "re.Pattern[str]":
    """What a line is not broken in: a word or a Chinese character, with its marks and the number of its citation.

    Compiled on use: it takes longer than all else of a view.
    """
    return re.compile(
        rf"[{_OPENING}]*(?:[{_LETTER}]|[^\s{_LETTER}{_OPENING}{_CLOSING}]+)[{_CLOSING}]*(?: \[\d+\])?\s*"
        rf"|[{_OPENING}{_CLOSING}]+\s*|\s+"
    )


def terminal_width(stream: TextIO) -> int | None:
    """Columns of the terminal behind a stream; None where there is none, or its width is not known."""
    if not is_terminal(stream):
        return None
    if (said := os.environ.get("COLUMNS", "")).isdigit() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def columns(text: str) -> int:
    """Columns of a terminal that a line takes: Chinese takes two, combining marks none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) != 0 for char in text)


def wrapped(text: str, width: int | None, *, hang: int | None = None) -> Iterator[str]:
    """One line as lines of at most `width` columns; a line that fits, and any where `width` is None, as it is.

    Lines after the first begin with `hang` blanks, by default as many as the first. A word that is too long stays
    whole: a path can be copied.
    """
    if width is None or columns(text) <= width:
        yield text
        return
    lead = len(text) - len(text.lstrip(" "))
    blanks = " " * min(lead if hang is None else hang, width // 2)
    line, filled = text[:lead], False
    for piece in _piece().findall(text[lead:]):
        if filled and columns(line + piece.rstrip()) > width:
            yield line.rstrip()
            line = blanks
        line += piece
        filled = True
    yield line
