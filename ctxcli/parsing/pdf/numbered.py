"""Headings that are known by their number: its form, its type and its place in the sequence."""

import re
from collections.abc import Mapping, Sequence

from ctxcli.parsing.pdf.layout import Layout, first_word_width
from ctxcli.parsing.pdf.lines import Line, is_wide
from ctxcli.parsing.pdf.numbers import Number, follows, read_number
from ctxcli.parsing.pdf.titles import CAPTION, LETTER, LONGEST, SENTENCE, Heading, grown

_RANKS = {"编": 1, "编 ": 1, "篇": 1, "部": 1, "章": 2, "节": 3, "節": 3, "条": 4, "條": 4, "款": 5, "项": 6}


class NumberedHeadings:
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
        if number.family != "decimal" or not number.rest:
            family = {"decimal": self._alone, "roman": self._roman}.get(number.family, self._chinese)
            return family(index, number, level)
        if not LETTER.search(number.rest) or line.cells > 3 or CAPTION.match(number.rest):
            return None
        if strong and len(line.text) <= LONGEST and not number.rest[0].islower():
            loose = number.kind in {"single", "letter"}
            if loose and not self._is_short_title(number.rest):
                return None
            return grown(self.lines, index, index, level, layout, line.text)
        if number.depth == 1:
            return self._plain_chapter(index, number, level)
        if self._is_title(index, number):
            return Heading(index, index, level, line.text)
        if not self._is_clause(index, number):
            return None
        self.clauses.add(number.parts[:-1])
        return Heading(index, index, level, number.written, clause=True)

    @staticmethod
    def _is_short_title(text: str) -> bool:
        """Whether a line after ``3.`` is a title rather than an item of a list that is set in larger type."""
        if SENTENCE.search(text) or "  " in text:
            return False
        return not is_wide(text[0]) or (len(text) <= 30 and not re.search("[，。；：]", text))

    def _plain_chapter(self, index: int, number: Number, level: int) -> Heading | None:
        """``1 范围`` and ``3 SCOPE``: a chapter set in body type."""
        line = self.lines[index]
        short = len(number.rest) <= (20 if is_wide(number.rest[0]) else 60) and not SENTENCE.search(number.rest)
        named = is_wide(number.rest[0]) or number.rest.isupper() or number.kind in {"word", "appendix"}
        after = self.lines[index + 1] if index + 1 < len(self.lines) else None
        alone = self._gap(index) and (after is None or not self._same_list(line, after))
        fits = short and named and alone and "  " not in number.rest
        return Heading(index, index, level, line.text) if fits else None

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
        if len(number.rest) > longest or SENTENCE.search(number.rest) or number.rest[0].islower():
            return False
        after = self.lines[index + 1] if index + 1 < len(self.lines) else None
        if after is None or after.page != line.page:
            return self._gap(index)
        lower = after.text[0].islower()
        indented = is_wide(number.rest[0]) and 1.2 < (after.x0 - line.x0) / max(line.size, 1) < 2.6
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
        if after.page != line.page or not LETTER.search(after.text) or len(after.text) > LONGEST:
            return None
        if read_number(after.text) is not None:
            return None
        if strong and (number.depth > 1 or self.layout.is_big(after) or number.kind in {"word", "appendix"}):
            title = grown(self.lines, index + 1, index + 1, level, self.layout, after.text)
            return Heading(index, title.last, level, f"{line.text} {title.text}")
        if number.depth > 1 and number.kind == "decimal" and self._gap(index) and line.x0 <= after.x0 + 1:
            return Heading(index, index, level, number.written, clause=True)
        return None

    def _chinese(self, index: int, number: Number, level: int) -> Heading | None:
        """第三章, 第六条, 一、, （一）: a title if it is short, else a clause with only the number as heading."""
        line = self.lines[index]
        strong = self.layout.is_strong(line)
        spaced = not number.rest or not number.tight or number.family in "、（" or self._is_exact(number)
        if not spaced and not strong:
            return None
        short = len(number.rest) <= 40 and not SENTENCE.search(number.rest)
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
        return grown(self.lines, index, index, level, self.layout, line.text)

    def _roman(self, index: int, number: Number, level: int) -> Heading | None:
        """``IV. RESULTS``: in capitals or set to stand out."""
        line = self.lines[index]
        if not number.rest or len(number.rest) > 80 or not self._is_short_title(number.rest):
            return None
        named = self.layout.is_strong(line) or (number.rest.isupper() and self._gap(index))
        return grown(self.lines, index, index, level, self.layout, line.text) if named else None

    def _is_exact(self, number: Number) -> bool:
        """第二条 with no blank after it: the next article, and no mention of one."""
        last = (self.current.get(number.family) or (0,))[-1]
        return number.parts[-1] == last + 1 and number.rest[0] not in "的规定至和或与及、，。（第"

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
