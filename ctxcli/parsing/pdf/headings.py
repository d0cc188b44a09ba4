"""Which lines of a PDF are headings: the outline first, then numbers with type and sequence."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ctxcli.parsing.pdf.layout import Layout, first_word_width
from ctxcli.parsing.pdf.lines import Line, is_wide, joint
from ctxcli.parsing.pdf.numbers import Number, follows, read_number
from ctxcli.parsing.pdf.reader import Entry

_LONGEST = 160
_SENTENCE = re.compile(r"[.。；;:：,，、!！]$|[。；！？][^”』」）)]")
_CARDINALS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
    " nineteen twenty"
).split()
_CHAPTER = re.compile(
    rf"(?:chapter|part|appendix|annex|section)\s+(?:[0-9A-Z]{{1,5}}|{'|'.join(_CARDINALS)})|第\s*[零〇一二三四五六七八九十百0-9]+\s*[章编篇部节]|附录\s*[A-Z一二三四五六七八九十]",
    re.IGNORECASE,
)
_CAPTION = re.compile(r"(?:figure|fig\.|table|图|表)\s*\d", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]{2}|[\u3400-\u9fff]")
_PAGE_TITLE = re.compile(r"(?:page|p\.|第)?\s*\d+\s*页?|_\w+|.*\.(?:pdf|docx?)", re.IGNORECASE)
_RANKS = {"编": 1, "编 ": 1, "篇": 1, "部": 1, "章": 2, "节": 3, "節": 3, "条": 4, "條": 4, "款": 5, "项": 6}


@dataclass(frozen=True, slots=True)
class Heading:
    """Lines `first` … `last` (inclusive) are a heading; `text` is its line with the number.

    `clause` means that only the number is the heading: the line goes on with body text.
    """

    first: int
    last: int
    level: int
    text: str
    clause: bool = False


def find(lines: Sequence[Line], outline: Sequence[Entry], layout: Layout, skip: frozenset[int]) -> list[Heading]:
    """Headings in order; lines in `skip` (tables of contents) are none."""
    outlined = _from_outline(lines, outline, layout, skip)
    numbered = _Numbered(lines, layout, skip, outlined)
    found = numbered.find()
    if len(outlined) < 3:
        found = _with_styles(lines, found, layout, skip)
    return sorted(found, key=lambda heading: heading.first)


# --- outline -------------------------------------------------------------------------------------


def _key(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


def _from_outline(
    lines: Sequence[Line], outline: Sequence[Entry], layout: Layout, skip: frozenset[int]
) -> dict[int, Heading]:
    """Headings that the outline names, by their first line."""
    by_page: dict[int, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        if not line.turned:
            by_page[line.page].append(index)
    found: dict[int, Heading] = {}
    for entry in outline:
        if _PAGE_TITLE.fullmatch(entry.title):
            continue
        heading = _place(entry, lines, by_page, layout, skip)
        if heading and heading.first not in found:
            found[heading.first] = heading
    return found


def _place(
    entry: Entry, lines: Sequence[Line], by_page: Mapping[int, list[int]], layout: Layout, skip: frozenset[int]
) -> Heading | None:
    wanted = _key(entry.title)
    matches: list[tuple[float, int, int]] = []
    for page in (entry.page, entry.page + 1, entry.page - 1):
        for place, index in enumerate(by_page.get(page, ())):
            if index in skip:
                continue
            last = _matching(wanted, lines, by_page[page][place : place + 5])
            if last is not None:
                matches.append((_distance(entry, lines[index], layout), index, last))
        if matches:
            break
    if matches:
        _, first, last = min(matches)
        return _grown(lines, first, last, entry.level, layout, entry.title)
    return _by_height(entry, lines, by_page.get(entry.page, []), skip, layout)


def _matching(wanted: str, lines: Sequence[Line], places: Sequence[int]) -> int | None:
    """The last of the lines that together are the title, with or without a number before it."""
    text = ""
    for index in places:
        text += lines[index].text + " "
        key = _key(text)
        if wanted and key == wanted:
            return index
        number = read_number(text)
        if number and _key(number.rest) and _key(number.rest) in {wanted, _key(_unnumbered(wanted))}:
            return index
        if not wanted.startswith(key[: len(wanted)]) and not (number and wanted.startswith(_key(number.rest)[:8])):
            return None
        if len(key) > len(wanted) + 12:
            return None
    return None


def _unnumbered(text: str) -> str:
    return re.sub(r"^[\dv.]+", "", text)


def _distance(entry: Entry, line: Line, layout: Layout) -> float:
    """How ill the line fits the target: lines that stand out come first, then those near its height."""
    away = abs(entry.y - line.y - line.size) if entry.y is not None else 0.0
    return away + (0.0 if layout.is_strong(line) else 100.0)


def _grown(lines: Sequence[Line], first: int, last: int, level: int, layout: Layout, title: str) -> Heading:
    """Take in the chapter line above and the wrapped lines below, as long as they are set as the heading."""
    head = lines[first]
    named = _chapter_lines(lines, first, layout)
    if layout.is_strong(head):
        while last + 1 < len(lines) and last - first < 5 and _wraps(lines[last], lines[last + 1], layout):
            last += 1
    text = _joined(lines[first : last + 1])
    if named:
        above = " ".join(line.text for line in lines[first - named : first])
        return Heading(first - named, last, level, f"{_chapter_name(above)} {text}")
    if last > first or _key(title) not in _key(text):
        return Heading(first, last, level, text)
    return Heading(first, last, level, _titled(text, title))


def _chapter_lines(lines: Sequence[Line], first: int, layout: Layout) -> int:
    """How many lines above a title name its chapter: ``Chapter 6``, or ``CHAPTER`` and ``SIX``."""
    for count in (1, 2):
        above = lines[max(first - count, 0) : first]
        if len(above) < count or any(line.page != lines[first].page or not layout.is_strong(line) for line in above):
            return 0
        if _CHAPTER.fullmatch(" ".join(line.text for line in above)):
            return count
    return 0


def _chapter_name(text: str) -> str:
    """``CHAPTER SIX`` as ``Chapter 6``, so that it reads as a number."""
    word, _, value = text.partition(" ")
    if value.lower() in _CARDINALS:
        return f"{word.capitalize()} {_CARDINALS.index(value.lower()) + 1}"
    return text


def _titled(text: str, title: str) -> str:
    """The printed heading, which bears the number."""
    return text if len(text) >= len(title) else title


def _joined(lines: Sequence[Line]) -> str:
    text = lines[0].text
    for before, line in pairwise(lines):
        text, between = joint(text, line.text, hyphen=before.hyphen, words=frozenset())
        if _CHAPTER.fullmatch(before.text):
            between = " "
        text += between + line.text
    return re.sub(r"\s+", " ", text)


def _wraps(before: Line, line: Line, layout: Layout) -> bool:
    """Whether `line` is the next line of the same heading."""
    same = abs(before.size - line.size) < 0.3 and before.bold == line.bold and before.page == line.page
    near = 0 < before.y - line.y < 1.6 * max(line.size, 1)
    return same and near and read_number(line.text) is None and layout.is_strong(line)


def _by_height(
    entry: Entry, lines: Sequence[Line], places: Sequence[int], skip: frozenset[int], layout: Layout
) -> Heading | None:
    """The line at the target's height, if it looks like a heading; the title of the outline names it."""
    if entry.y is None:
        return None
    below = [i for i in places if i not in skip and entry.y - 4 * layout.size < lines[i].y <= entry.y + 2]
    for index in below[:3]:
        line = lines[index]
        if layout.is_strong(line) and len(line.text) <= _LONGEST and _alike(entry.title, line.text):
            return _grown(lines, index, index, entry.level, layout, line.text)
    return None


def _alike(title: str, text: str) -> bool:
    wanted, found = Counter(_key(title)), Counter(_key(text))
    return sum((wanted & found).values()) >= 0.7 * max(sum(wanted.values()), 1)


# --- numbers -------------------------------------------------------------------------------------


class _Numbered:
    """Walks the lines once, keeps the number reached in each family, and takes what follows it."""

    def __init__(
        self, lines: Sequence[Line], layout: Layout, skip: frozenset[int], outlined: Mapping[int, Heading]
    ) -> None:
        self.lines = lines
        self.layout = layout
        self.skip = skip
        self.outlined = outlined
        self.current: dict[str, tuple[int, ...]] = {}
        self.stack: list[tuple[str, int, int]] = []  # family, depth, level
        self.clauses: set[tuple[int, ...]] = set()  # numbers whose children are sentences

    def find(self) -> list[Heading]:
        """All headings with a number, and those of the outline."""
        found: list[Heading] = []
        index = 0
        while index < len(self.lines):
            heading = self.outlined.get(index)
            if heading:
                self._note(read_number(heading.text), heading.level, outlined=True)
            elif index not in self.skip:
                heading = self._heading(index)
            if heading:
                found.append(heading)
                index = heading.last
            index += 1
        return found

    def _heading(self, index: int) -> Heading | None:
        line = self.lines[index]
        first = line.text[0]
        if line.turned or not (first.isalnum() or first in "（(§") or line.cells > 3:
            return None
        number = read_number(line.text)
        if number is None or not self._in_sequence(number, index):
            return None
        if number.depth == 1 and number.family == "decimal" and len(self.outlined) >= 3:
            return None  # the outline names the chapters
        before = self.lines[index - 1] if index else None
        if not self.layout.is_strong(line) and not self._opens(before, line):
            return None
        heading = self._run(index, number)
        if heading:
            self._note(number, heading.level, outlined=False)
        return heading

    def _opens(self, before: Line | None, line: Line) -> bool:
        """Whether a paragraph may begin with this line."""
        if self.layout.gap_above(before, line) or before is None:
            return True
        ended = bool(re.search(r"[.。！？!?：:；;]$", before.text))
        return ended or before.x1 + first_word_width(line) < line.x0 or line.lead_bold != before.bold

    def _in_sequence(self, number: Number, index: int) -> bool:
        line = self.lines[index]
        current = self.current.get(number.family, ())
        if number.family == "decimal":
            if follows(number.parts, current, reach=3 if self.layout.is_strong(line) else 1):
                return True
            later = number.parts > current and number.depth > 1
            return later and self.layout.is_big(line)
        last, value = (current[-1] if current else 0), number.parts[-1]
        if value <= 0:
            return False
        return value in {1, last, last + 1} or (self.layout.is_strong(line) and last < value <= last + 3)

    def _run(self, index: int, number: Number) -> Heading | None:
        """The heading that begins here, if the number, the type and what follows fit."""
        line, layout = self.lines[index], self.layout
        level = self._level(number)
        strong = layout.is_strong(line)
        if number.family != "decimal":
            return self._chinese(index, number, level)
        if not number.rest:
            return self._alone(index, number, level)
        if not _LETTER.search(number.rest) or line.cells > 3 or _CAPTION.match(number.rest):
            return None
        if strong and len(line.text) <= _LONGEST and not number.rest[0].islower():
            if number.kind in {"single", "letter"} and (_SENTENCE.search(number.rest) or "，" in line.text or line.cells > 1):
                return None
            return _grown(self.lines, index, index, level, layout, line.text)
        if number.depth == 1:
            return self._plain_chapter(index, number, level)
        if self._is_title(index, number):
            return Heading(index, index, level, line.text)
        if not self._is_clause(index, number):
            return None
        self.clauses.add(number.parts[:-1])
        return Heading(index, index, level, number.written, clause=True)

    def _plain_chapter(self, index: int, number: Number, level: int) -> Heading | None:
        """``1 范围`` and ``3 SCOPE``: a chapter set in body type."""
        line = self.lines[index]
        short = len(number.rest) <= (20 if is_wide(number.rest[0]) else 60) and not _SENTENCE.search(number.rest)
        named = is_wide(number.rest[0]) or number.rest.isupper() or number.kind in {"word", "appendix"}
        after = self.lines[index + 1] if index + 1 < len(self.lines) else None
        alone = self._gap(index) and (after is None or not self._same_list(line, after))
        return Heading(index, index, level, line.text) if short and named and alone and line.cells == 1 else None

    def _gap(self, index: int) -> bool:
        return self.layout.gap_above(self.lines[index - 1] if index else None, self.lines[index])

    @staticmethod
    def _same_list(line: Line, after: Line) -> bool:
        """Whether the next line is numbered as this one: then it is a list."""
        one, two = read_number(line.text), read_number(after.text)
        return bool(one and two and one.depth == two.depth and one.family == two.family)

    def _is_title(self, index: int, number: Number) -> bool:
        """A short line in body type after a number of depth 2 or more, set apart from what follows."""
        line = self.lines[index]
        longest = 40 if is_wide(number.rest[0]) else 90
        if number.parts[:-1] in self.clauses or "  " in number.rest:
            return False
        if len(number.rest) > longest or _SENTENCE.search(number.rest) or number.rest[0].islower():
            return False
        after = self.lines[index + 1] if index + 1 < len(self.lines) else None
        if after is None or after.page != line.page:
            return self._gap(index)
        lower = after.text[0].islower()
        indented = is_wide(number.rest[0]) and 1.5 < (after.x0 - line.x0) / max(line.size, 1) < 2.5
        return self._gap(index) and not lower and (self._gap(index + 1) or indented or line.bold)

    def _is_clause(self, index: int, number: Number) -> bool:
        """A sentence after a number: the number follows exactly and begins a paragraph."""
        line = self.lines[index]
        current = self.current.get("decimal", ())
        child = number.parts[:-1] == current and number.parts[-1] == 1
        sibling = number.depth <= len(current) and follows(number.parts, current, reach=2)
        if not (child or sibling) or line.cells > 3:
            return False
        sentence = not number.rest[0].islower() and len(number.rest) > 8
        return sentence and (line.lead_bold or self._gap(index) or self._hangs(index))

    def _hangs(self, index: int) -> bool:
        """Whether the number hangs left of the lines around it, or the paragraph above has plainly ended."""
        line = self.lines[index]
        before = self.lines[index - 1] if index else None
        if before is None or before.page != line.page:
            return True
        return before.x0 > line.x0 + line.size or bool(re.search(r"[.。；;：:]$", before.text))

    def _alone(self, index: int, number: Number, level: int) -> Heading | None:
        """A number on its own line and the title on the next one."""
        if index + 1 >= len(self.lines) or index + 1 in self.skip:
            return None
        line, after = self.lines[index], self.lines[index + 1]
        strong = self.layout.is_strong(line) and self.layout.is_strong(after)
        if after.page != line.page or not _LETTER.search(after.text) or len(after.text) > _LONGEST:
            return None
        if read_number(after.text) is not None:
            return None
        if strong and (number.depth > 1 or self.layout.is_big(after) or number.kind in {"word", "appendix"}):
            grown = _grown(self.lines, index + 1, index + 1, level, self.layout, after.text)
            return Heading(index, grown.last, level, _joined([line, after]) if grown.last == index + 1 else f"{line.text} {grown.text}")
        if number.depth > 1 and number.kind == "decimal" and self._gap(index) and line.x0 <= after.x0 + 1:
            return Heading(index, index, level, number.written, clause=True)
        return None

    def _chinese(self, index: int, number: Number, level: int) -> Heading | None:
        """第三章, 第六条, 一、, （一）: a title if it is short, else a clause with only the number as heading."""
        line = self.lines[index]
        strong = self.layout.is_strong(line)
        spaced = not number.rest or not number.tight or number.family in "、（"
        if not spaced and not strong:
            return None
        short = len(number.rest) <= 40 and not _SENTENCE.search(number.rest)
        if number.family == "（" and not strong and not (short and self._gap(index)):
            return None
        if number.family == "、" and not strong and not short:
            return None
        if number.kind in {"han", "sign"} and number.family in "条條§decimal" and not short:
            return Heading(index, index, level, number.written, clause=True)
        if not short or line.cells > 2:
            return None
        if not number.rest and number.kind != "han":
            return None
        if not number.rest:
            return self._chapter_alone(index, level)
        return _grown(self.lines, index, index, level, self.layout, line.text)

    def _chapter_alone(self, index: int, level: int) -> Heading:
        line = self.lines[index]
        after = self.lines[index + 1] if index + 1 < len(self.lines) else None
        if after and after.page == line.page and self.layout.is_strong(after) and read_number(after.text) is None:
            return Heading(index, index + 1, level, f"{line.text} {after.text}")
        return Heading(index, index, level, line.text)

    def _level(self, number: Number) -> int:
        """The level of a number: that of its family and depth if seen, else one below what it stands under."""
        key = (number.family, number.depth)
        rank = _RANKS.get(number.family)
        for family, depth, level in reversed(self.stack):
            if (family, depth) == key:
                return level
            if family == number.family == "decimal":
                return max(level + number.depth - depth, 1)
            if number.depth == 1 and number.kind == "single" and family in "、（":
                return level + 1
            if rank and rank > _RANKS.get(family, 99):
                return level + 1
        if rank and self.stack:
            higher = [level for family, _, level in self.stack if _RANKS.get(family, 99) > rank]
            return min(higher, default=self.stack[-1][2] + 1) if higher else self.stack[-1][2] + 1
        return self.stack[-1][2] + 1 if self.stack and number.family != "decimal" else number.depth

    def _note(self, number: Number | None, level: int, *, outlined: bool) -> None:
        """Remember where the numbering stands; what a higher heading opens starts anew."""
        while self.stack and self.stack[-1][2] >= level:
            family, _, _ = self.stack.pop()
            if family != "decimal" and number is not None and family != number.family and family not in "条條":
                self.current.pop(family, None)
        if number is None:
            return
        self.current[number.family] = number.parts
        self.stack.append((number.family, number.depth, level))


# --- type ----------------------------------------------------------------------------------------


def _with_styles(
    lines: Sequence[Line], found: list[Heading], layout: Layout, skip: frozenset[int]
) -> list[Heading]:
    """Add headings without numbers: short lines set as numbered headings are, else larger than the body."""
    taken = {index for heading in found for index in range(heading.first, heading.last + 1)}
    levels = _style_levels(lines, found, layout)
    if not levels:
        levels = _size_levels(lines, layout, skip)
    added: list[Heading] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        level = levels.get(_style(line))
        before = lines[index - 1] if index else None
        if index not in taken and index not in skip and level and _is_plain_title(line, before, layout):
            heading = _grown(lines, index, index, level, layout, line.text)
            if heading.last - heading.first < 3 and heading.last not in taken:
                added.append(heading)
                index = heading.last
        index += 1
    return found + added


def _style(line: Line) -> tuple[float, bool]:
    return round(line.size * 2) / 2, line.bold


def _style_levels(lines: Sequence[Line], found: list[Heading], layout: Layout) -> dict[tuple[float, bool], int]:
    levels: dict[tuple[float, bool], Counter[int]] = defaultdict(Counter)
    for heading in found:
        line = lines[heading.last]
        if not heading.clause and layout.is_strong(line):
            levels[_style(line)][heading.level] += 1
    return {style: counts.most_common(1)[0][0] for style, counts in levels.items()}


def _size_levels(lines: Sequence[Line], layout: Layout, skip: frozenset[int]) -> dict[tuple[float, bool], int]:
    """Levels by size for documents without numbers; a style that is common is no heading."""
    counts: Counter[tuple[float, bool]] = Counter()
    for index, line in enumerate(lines):
        if index not in skip and layout.is_strong(line):
            counts[_style(line)] += 1
    rare = [style for style, count in counts.items() if count <= max(3, 0.15 * len(lines))]
    ranked = sorted(rare, key=lambda style: (-style[0], not style[1]))
    return {style: min(rank, 6) for rank, style in enumerate(ranked, 1)}


def _is_plain_title(line: Line, before: Line | None, layout: Layout) -> bool:
    text = line.text
    return (
        layout.is_strong(line)
        and line.cells == 1
        and 2 <= len(text) <= 100
        and not line.turned
        and not line.mono
        and bool(_LETTER.search(text))
        and not _SENTENCE.search(text)
        and not _CAPTION.match(text)
        and not text[0].islower()
        and layout.gap_above(before, line)
    )
