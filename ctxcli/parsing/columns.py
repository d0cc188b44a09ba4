"""Whether the cells of a row name the columns of a table."""

import re
from collections.abc import Sequence
from itertools import pairwise

_NUMBER = re.compile(r"[\s\"']*[-+]?[$€¥]?[0-9][0-9.,:/%\-]*[\s\"']*")
_YEAR = re.compile(r"[\s\"']*((?:19|20)[0-9]{2})[\s\"']*")


def names_columns(cells: Sequence[str]) -> bool:
    """Whether all cells are words, or words and years that follow one another.

    The first may be blank where there are others: it stands over the names of the rows.
    """
    if not cells or not all(cell.strip() for cell in cells[1:]) or not (cells[0].strip() or len(cells) > 2):
        return False
    figures = [cell for cell in cells if _NUMBER.fullmatch(cell)]
    return not figures or (not _NUMBER.fullmatch(cells[0]) and _follow(figures))


def _follow(figures: Sequence[str]) -> bool:
    years = [int(year[1]) for cell in figures if (year := _YEAR.fullmatch(cell))]
    if len(years) < max(2, len(figures)):
        return False
    return len({later - year for year, later in pairwise(years)} - {1, -1}) == 0
