"""Lines of a PDF page, and the text that they make when they are joined."""

import re
import unicodedata
from collections.abc import Set
from dataclasses import dataclass

CJK = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
CJK_MARKS = "\u3001-\u3003\u3008-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
WIDE = CJK + CJK_MARKS + "\U00020000-\U0003ffff"

_NUMBERED = re.compile(r"(第[零〇一二三四五六七八九十百千两0-9]+[编篇部章节節条條款])[ \u3000]+(?=\S)")
_BETWEEN_HANZI = re.compile(rf"(?<=[{WIDE}]) +(?=[{WIDE}])")
_WIDE_END = re.compile(rf"[{WIDE}]$")
_WIDE_START = re.compile(rf"[{WIDE}]")
_MARK_END = re.compile(rf"[{CJK_MARKS}]$")
_MARK_START = re.compile(rf"[{CJK_MARKS}]")
_LAST_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*-?$")
_FIRST_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_OPEN_URL = re.compile(r"(?:https?://|ftp://|www\.)\S*[/._=&?#%-]$")
_SPLIT_URL = re.compile(r"[\w/.%~-]+")

_DELETED = [*range(0x09), *range(0x0B, 0x1E), 0x7F, 0xAD, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF]
_TABLE: dict[int, str] = {
    **dict.fromkeys(_DELETED, ""),
    **dict.fromkeys((0x09, 0x0A, 0xA0, 0x2002, 0x2003, 0x2007, 0x2009, 0x202F, 0x3000), " "),
    **dict.fromkeys((0x2010, 0x2011), "-"),
    **{code: unicodedata.normalize("NFKC", chr(code)) for code in (*range(0xFB00, 0xFB07), *range(0x2F00, 0x2FD6))},
}
"""Control and invisible characters go, odd blanks and hyphens become plain, ligatures and radicals letters."""

CELL = "  "
"""What stands between two cells of a table row."""

CELL_GAP, WORD_GAP = "\x1f", "\x1e"
"""How the reader marks a gap between cells, and a blank between hanzi that is meant."""

HYPHENS = "\ufffe\x02"
"""How PDFium marks a hyphen at the end of a line."""


@dataclass(frozen=True, slots=True)
class Line:
    """One printed line, in points from the lower left corner of the page.

    `page` is 0-based, `y` the baseline. `size` is that of the character in the middle, `bold` and
    `mono` likewise; `lead_bold` is for the first character, `lead_size` its size. `hyphen` means that the line
    ended with a hyphen mark, which is not in `text`. `cells` counts the parts set apart by wide gaps.
    """

    text: str
    page: int
    x0: float
    x1: float
    y: float
    size: float
    bold: bool = False
    mono: bool = False
    lead_bold: bool = False
    lead_size: float = 0.0
    hyphen: bool = False
    cells: int = 1
    turned: bool = False


def clean(text: str) -> str:
    """Strip what is no text, make blanks single and drop those between two hanzi; gaps between cells stay."""
    text = text.translate(_TABLE)
    if CELL_GAP not in text and WORD_GAP not in text:
        return _single(text)
    cells = (" ".join(filter(None, map(_single, cell.split(WORD_GAP)))) for cell in text.split(CELL_GAP))
    return CELL.join(filter(None, cells))


def _single(text: str) -> str:
    text = " ".join(text.split())
    number = _NUMBERED.match(text)
    if number:  # 第六条 为了…: this blank is meant
        return f"{number[1]} {_BETWEEN_HANZI.sub('', text[number.end() :])}"
    return _BETWEEN_HANZI.sub("", text)


def is_wide(character: str) -> bool:
    """Whether the character is set without blanks (hanzi, kana and their punctuation)."""
    return bool(_WIDE_START.match(character))


def joint(before: str, after: str, *, hyphen: bool, words: Set[str]) -> tuple[str, str]:
    """Return `before` without a hyphen that only parts a word, and what to put between the two.

    `words` are the words of the document in lower case: they decide whether ``multi-`` and
    ``factor`` make one word or two.
    """
    if hyphen or (before.endswith("-") and after[:1].islower() and not before.endswith((" -", "--"))):
        return _mend(before.removesuffix("-"), after, words)
    if not before or not after:
        return before, ""
    if before.endswith("-") and before[-2:-1].isalnum() and after[0].isascii() and after[0].isalnum():
        return before, ""  # SP 800- 63
    if _WIDE_END.search(before) and _WIDE_START.match(after):
        return before, ""
    if _MARK_END.search(before) or _MARK_START.match(after):
        return before, ""
    if _OPEN_URL.search(before) and _SPLIT_URL.match(after):
        return before, ""
    return before, " "


def _mend(before: str, after: str, words: Set[str]) -> tuple[str, str]:
    left, right = _LAST_WORD.search(before), _FIRST_WORD.match(after)
    if not left or not right:
        return before, "-"
    whole, parted = (left[0] + right[0]).lower(), f"{left[0]}-{right[0]}".lower()
    if (parted in words) != (whole in words):
        return before, "-" if parted in words else ""
    return before, "" if after[0].islower() else "-"


_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def words_of(lines: list[Line]) -> frozenset[str]:
    """The words of the document in lower case, without those cut at line ends."""
    if not any(line.hyphen or line.text.endswith("-") for line in lines):
        return frozenset()
    found: set[str] = set()
    for line in lines:
        cut = line.hyphen or line.text.endswith("-")
        found.update(_WORDS.findall((line.text.rpartition(" ")[0] if cut else line.text).lower()))
    return frozenset(found)
