"""Lines and tables: by Rich on a terminal, as plain text elsewhere."""

import unicodedata
from collections.abc import Sequence
from typing import Any, TextIO

from ctxcli.cli.output import has_colour, is_terminal, visible

_NEVER_FOLDED = 20
"""A column of at most so many columns of a terminal, as one of ids or dates, is not cut into lines."""
_WIDEST = 48
"""Columns of a terminal that a column of a plain table is padded to at most."""


class Screen:
    """Where a view writes. Text is shown as it is: no markup, no control characters."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._console: Any = None
        if is_terminal(stream) or has_colour(stream):
            from rich.console import Console

            self._console = Console(file=stream, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def line(self, text: str = "", *, style: str = "") -> None:
        """Write one line; `style` is a Rich style, for terminals."""
        if self._console and style:
            self._console.print(visible(text), style=style)
        else:
            self._stream.write(f"{visible(text)}\n")

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]], *, cut: str = "") -> None:
        """Write rows under their column names; numbers stand on the right.

        On a terminal the column named `cut` is cut where it is too long for one line; others go on below.
        """
        texts = [["" if cell is None else visible(str(cell)).replace("\n", " ") for cell in row] for row in rows]
        numeric = [all(isinstance(row[at], int | float | None) for row in rows) for at in range(len(columns))]
        if self._console:
            self._rich_table(columns, texts, numeric, cut)
        else:
            self._plain_table(columns, texts, numeric)

    def _rich_table(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], cut: str
    ) -> None:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold")
        for at, (name, is_number) in enumerate(zip(columns, numeric, strict=True)):
            table.add_column(
                name,
                justify="right" if is_number else "left",
                overflow="fold",
                no_wrap=all(_width(row[at]) <= _NEVER_FOLDED for row in rows),
            )
        for row in rows:
            table.add_row(
                *(
                    Text(cell, no_wrap=True, overflow="ellipsis") if name == cut else Text(cell)
                    for name, cell in zip(columns, row, strict=True)
                )
            )
        self._console.print(table, soft_wrap=False)

    def _plain_table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> None:
        everything = [[name.upper() for name in columns], *rows]
        widths = [_column_width([_width(row[at]) for row in everything]) for at in range(len(columns))]
        for row in everything:
            cells = (
                _padded(cell, width, right=is_number)
                for cell, width, is_number in zip(row, widths, numeric, strict=True)
            )
            self._stream.write("  ".join(cells).rstrip() + "\n")


def counted(number: int, what: str) -> str:
    """``1 note``, ``2,000 notes``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _column_width(widths: Sequence[int]) -> int:
    """How wide a column is padded: a cell that is much longer than others juts out, alone."""
    return max(width for at, width in enumerate(widths) if not at or width <= _WIDEST)


def _width(text: str) -> int:
    """Columns of a terminal: Chinese takes two, combining marks none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) != 0 for char in text)


def _padded(text: str, width: int, *, right: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if right else text + blanks
