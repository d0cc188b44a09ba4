"""Documents, their sections and blocks, and the chunks cut from them.

All offsets are 0-based character offsets into `Document.text`; ends are exclusive. What a document has thousands of
is a named tuple, which is made in half the time of a dataclass.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

BlockKind = Literal["heading", "prose", "item", "row", "header_row", "code", "meta"]
"""What a block of text is.

heading     the line(s) of a section's heading
prose       a paragraph
item        one list item with its continuation lines
row         one row of a table; header_row is a row that names the columns
code        a fenced or indented code block, or a definition in source code
meta        never an answer: front matter, link definitions, tables of contents, comments
"""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text below it, up to the next heading.

    `number` is the number as printed or counted (``6.3.2``, ``第三章``, ``A.2``), else "".
    `title` is the heading without the number; `path` holds the headings from the
    outermost one down to this one, each with its number. `start` is where the heading begins.
    `anchor` is a link target (HTML id, qualified name), else "".
    """

    start: int
    level: int
    number: str
    title: str
    path: tuple[str, ...]
    anchor: str = ""

    @property
    def heading(self) -> str:
        """The number and the title as one line."""
        return f"{self.number} {self.title}".strip()


class Block(NamedTuple):
    """A run of text that belongs together; blocks do not overlap and come in order."""

    start: int
    end: int
    kind: BlockKind


@dataclass(frozen=True, slots=True)
class ParseWarning:
    """Something wrong with a document that was read all the same; `page` is 1-based."""

    code: str
    message: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """What a parser makes of a file.

    `text` is the one canonical text: every chunk and every quote is a slice of it.
    `page_starts[i]` is the offset at which physical page i + 1 begins and `page_labels[i]`
    the label printed on it ("" if none); both are empty for formats without pages.
    `has_lines` is true where line n of `text` is line n of the file; where the text is made from the file,
    `line_marks` may hold ascending (offset, 1-based line): from there on the text stands in that line (0: unknown).
    """

    format: str
    title: str
    text: str
    sections: tuple[Section, ...] = ()
    blocks: tuple[Block, ...] = ()
    page_starts: tuple[int, ...] = ()
    page_labels: tuple[str, ...] = ()
    has_lines: bool = False
    line_marks: tuple[tuple[int, int], ...] = ()
    encoding: str = ""
    title_from_name: bool = False
    warnings: tuple[ParseWarning, ...] = field(default=())


class Span(NamedTuple):
    """From `start` on (until the next span) the text stands in this section and on this page.

    `section` is an index into `Document.sections`, -1 before the first heading;
    `page` is the 1-based physical page, None where the format has none.
    """

    start: int
    section: int
    page: int | None


class Unit(NamedTuple):
    """The least piece that can be quoted: a sentence, a list item, a row or a code block."""

    start: int
    end: int
    kind: BlockKind


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document; the chunks of a document tile its text without gap or overlap.

    `line_start` is the 1-based line of `start`, None where the format has no lines.
    """

    ordinal: int
    start: int
    end: int
    spans: tuple[Span, ...]
    units: tuple[Unit, ...]
    line_start: int | None
