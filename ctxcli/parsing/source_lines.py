"""In which line of an HTML file the text of its blocks stands.

The parser of the tree gives no positions. So the file without its tags, and the text that was made from it, are both
reduced to the characters they must share, and each block is looked for behind the one before it.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from ctxcli.model.document import Block

_MARKUP = re.compile(r"<(!--)?(/?[A-Za-z][^\s/>]*|[!?/])?")
_TAG_END = re.compile(r"(?:[^'\">=]++|=\s*\"[^\"]*\"|=\s*'[^']*'|[='\"])*+>")
_RAW = {name: re.compile(rf"</{name}", re.IGNORECASE) for name in ("script", "style", "title")} | {
    name: re.compile(r"</?r(?:t|p|b|tc|uby)\b", re.IGNORECASE) for name in ("rt", "rp")
}
"""Elements whose text is not shown, and how they end: nothing in them is a tag that matters."""
_ADDED = re.compile(r"[^\S\n]+|[|^\x00-]+")
"""White space, and what is written between cells, before items and before raised numbers."""
_NUMBER = re.compile(r"[0-9]{1,6}\.")
_AHEAD = 200_000
"""Characters behind the last block in which the next one is looked for."""
_BEGINNING = 40
_LONG = 24
"""Characters that hardly stand anywhere else before their own place."""


def line_marks(source: str, text: str, blocks: Sequence[Block]) -> tuple[tuple[int, int], ...]:
    """Return ascending (offset in `text`, 1-based line of `source`): from there on the text stands in that line.

    Line 0 stands for text that was not found in the file. `source` has LF line ends.
    """
    lines = _ADDED.sub("", html.unescape("".join(_without_tags(source)))).split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    stream = "".join(lines)
    shown = [text[block.start : block.end] for block in blocks]
    found = _aligned(stream, [_ADDED.sub("", one).replace("\n", "") for one in shown])
    marks: list[tuple[int, int]] = []
    for block, one, (first, end, added) in zip(blocks, shown, found, strict=True):
        if first < 0:
            marks.append((block.start, 0))
        else:
            marks += ((block.start + offset, line) for offset, line in _lines(one, starts, first, end, added))
    return tuple(marks)


def _without_tags(source: str) -> Iterator[str]:
    """The text of a page, and the line ends of its tags. One way through: what is never closed goes on to the end."""
    at = 0
    while (found := source.find("<", at)) >= 0:
        yield source[at:found]
        end = _end_of_markup(source, found)
        yield "<" if end == found + 1 else "\n" * source.count("\n", found, end)
        at = end
    yield source[at:]


def _end_of_markup(source: str, start: int) -> int:
    """Where a tag, a comment or an element without shown text ends that begins at a ``<``; right behind it for text."""
    opening = _MARKUP.match(source, start)
    comment, name = opening.groups() if opening else (None, None)
    if comment:
        end = source.find("-->", start)
        return end + 3 if end >= 0 else len(source)
    if not name:
        return start + 1
    tag = _TAG_END.match(source, start + 1)
    if tag is None:
        return len(source)
    closing = _RAW.get(name.lower())
    if closing is None:
        return tag.end()
    closed = closing.search(source, tag.end())
    return closed.start() if closed else len(source)


_Found = tuple[int, int, int]
"""Where a block begins and ends in the stream (-1 if it is not there), and the characters added before its text."""


def _aligned(stream: str, wanted: Sequence[str]) -> list[_Found]:
    """Long blocks one behind the other; then the short ones between them, each next to the one that follows.

    A short heading may stand in navigation too, which is no content: what it is close to tells them apart.
    """
    found: list[_Found] = [(-1, -1, 0)] * len(wanted)
    at = 0
    for number, one in enumerate(wanted):
        if len(one) >= _LONG:
            found[number] = _find(stream, one, at, at + _AHEAD + len(one), str.find)
            at = max(at, found[number][1])
    behind = next((number + 1 for number in range(len(found) - 1, -1, -1) if found[number][0] >= 0), 0)
    for number in range(behind, len(wanted)):
        found[number] = _find(stream, wanted[number], at, at + _AHEAD, str.find)
        at = max(at, found[number][1])
    floors = list(accumulate((end for _, end, _ in found[:behind]), max, initial=0))
    ceiling = len(stream)
    for number in range(behind - 1, -1, -1):
        if found[number][0] < 0:
            found[number] = _find(stream, wanted[number], max(floors[number], ceiling - _AHEAD), ceiling, str.rfind)
        ceiling = found[number][0] if found[number][0] >= 0 else ceiling
    return found


def _find(stream: str, wanted: str, low: int, high: int, seek: Callable[[str, str, int, int], int]) -> _Found:
    """Look for a block between two places: whole, without its number, at least its beginning."""
    number = _NUMBER.match(wanted)
    for added in (0, number.end()) if number else (0,):
        for part in (wanted[added:], wanted[added : added + _BEGINNING]):
            first = seek(stream, part, low, high) if part else -1
            if first >= 0:
                return first, first + len(wanted) - added, added
    return -1, -1, 0


def _lines(shown: str, starts: list[int], first: int, end: int, added: int) -> Iterator[tuple[int, int]]:
    """For each line of the file that a block begins in or goes on in: where in the block, and the line."""
    line = bisect_right(starts, first) - 1
    yield 0, line + 1
    kept: list[int] = []
    for later in range(line + 1, len(starts) - 1):
        if starts[later] >= end:
            return
        if starts[later + 1] > starts[later]:
            kept = kept or [at for at, char in enumerate(shown) if char != "\n" and not _ADDED.match(char)]
            yield kept[min(starts[later] - first + added, len(kept) - 1)], later + 1
