"""Lines and tables: in colour and within the width of a terminal, as plain text elsewhere."""

from collections.abc import Sequence
from typing import TextIO

from ctxcli.cli.output import has_colour, is_terminal, visible
from ctxcli.cli.wrapping import columns as width_of
from ctxcli.cli.wrapping import terminal_width, wrapped

_NEVER_FOLDED = 20
"""A column of at most so many columns of a terminal, as one of ids or dates, is not cut into lines."""
_WIDEST = 48
"""Columns of a terminal that a column of a plain table is padded to at most."""
_CUT_TO = 24
"""Columns of a terminal that a column which is cut should have at least."""
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class Screen:
    """Where a view writes. Text is shown as it is: no markup, no control characters."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._coloured = has_colour(stream)
        self._width = terminal_width(stream)

    def line(self, text: str = "", *, style: str = "", lead: int | None = None, hang: int | None = None) -> None:
        """Write one line; on a terminal one that is too long goes on below, after `hang` blanks (else as the first).

        `style` is bold, dim or a colour; with `lead` only so many first characters have it.
        """
        parts = (part for row in visible(text).split("\n") for part in wrapped(row, self._width, hang=hang))
        for at, part in enumerate(parts):
            coloured = len(part) if lead is None else 0 if at else lead
            if style and self._coloured and coloured and part:
                self._stream.write(f"\x1b[{_STYLES[style]}m{part[:coloured]}\x1b[0m{part[coloured:]}\n")
            else:
                self._stream.write(f"{part}\n")

    def table(
        self, columns: Sequence[str], rows: Sequence[Sequence[object]], *, cut: str = "", spare: Sequence[str] = ()
    ) -> None:
        """Write rows under their column names; numbers stand on the right.

        On a terminal the column named `cut` is cut where it is too long for one line, and those of `spare` are left
        out, the first one first, where the table is too wide; other columns go on below.
        """
        texts = [["" if cell is None else visible(str(cell)).replace("\n", " ") for cell in row] for row in rows]
        numeric = [all(isinstance(row[at], int | float | None) for row in rows) for at in range(len(columns))]
        if not (is_terminal(self._stream) or self._coloured):
            self._plain_table(columns, texts, numeric)
            return
        shown = self._fitting(columns, texts, cut, spare)
        self._rich_table(
            [columns[at] for at in shown],
            [[row[at] for at in shown] for row in texts],
            [numeric[at] for at in shown],
            cut,
        )

    def _fitting(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], cut: str, spare: Sequence[str]
    ) -> Sequence[int]:
        """Which columns there is room for."""
        shown = list(range(len(columns)))
        if self._width is None:
            return shown
        natural = _widths(columns, rows)
        needed = [min(width, _CUT_TO if name == cut else _WIDEST) for name, width in zip(columns, natural, strict=True)]
        for name in spare:
            if sum(needed[at] + 2 for at in shown) - 2 <= self._width:
                break
            shown.remove(columns.index(name))
        return shown

    def _rich_table(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], cut: str
    ) -> None:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        natural = _widths(columns, rows)
        room = self._width or 0
        others = sum(width + 2 for name, width in zip(columns, natural, strict=True) if name != cut)
        roomy = cut in columns and others + _CUT_TO <= room
        table = Table(box=None, pad_edge=False, header_style="bold" if self._coloured else "")
        for name, is_number, width in zip(columns, numeric, natural, strict=True):
            table.add_column(
                name,
                justify="right" if is_number else "left",
                overflow="fold",
                no_wrap=width <= _NEVER_FOLDED or (roomy and name != cut),
            )
        for row in rows:
            table.add_row(
                *(
                    Text(cell, no_wrap=True, overflow="ellipsis") if name == cut else Text(cell)
                    for name, cell in zip(columns, row, strict=True)
                )
            )
        console = Console(file=self._stream, markup=False, highlight=False, emoji=False, width=self._width)
        console.print(table)

    def _plain_table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> None:
        everything = [[name.upper() for name in columns], *rows]
        widths = [_column_width([width_of(row[at]) for row in everything]) for at in range(len(columns))]
        for row in everything:
            cells = (
                _padded(cell, width, right=is_number)
                for cell, width, is_number in zip(row, widths, numeric, strict=True)
            )
            self._stream.write("  ".join(cells).rstrip() + "\n")


def counted(number: int, what: str) -> str:
    """``1 note``, ``2,000 notes``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def local_time(moment: str) -> str:
    """A time as people read it, in their own zone: ``2025-01-31 14:05``; "" for none."""
    if not moment:
        return ""
    from datetime import datetime

    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """How wide each column is where it is neither cut nor folded."""
    return [max(width_of(name), *(width_of(row[at]) for row in rows), 0) for at, name in enumerate(columns)]


def _column_width(widths: Sequence[int]) -> int:
    """How wide a column is padded: a cell that is much longer than others juts out, alone."""
    return max(width for at, width in enumerate(widths) if not at or width <= _WIDEST)


def _padded(text: str, width: int, *, right: bool) -> str:
    blanks = " " * (width - width_of(text))
    return blanks + text if right else text + blanks
