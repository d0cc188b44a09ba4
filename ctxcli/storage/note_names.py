"""Names of note files: readable, and good on every platform and in Obsidian."""

import re
import unicodedata
from collections.abc import Iterator

ENDINGS = (".md", ".markdown")
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f/\\:*?\"<>|#^\[\]\u200e\u200f\u2028-\u202e\ufeff\ud800-\udfff]+")
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|\Z|\s)", re.IGNORECASE
)
_MOST_BYTES = 120
_ZERO_WIDTH_JOINER = "\u200d"
_NUMBERED = 9


def file_stem(title: str) -> str:
    """A file name without ending for a title."""
    text = title if title.isascii() else unicodedata.normalize("NFC", title)
    text = " ".join(_FORBIDDEN.sub(" ", text).split()).strip(". ")
    if _RESERVED.match(text):
        text = f"_{text}"
    return _cut(text).strip(". ") or "note"


def _cut(text: str) -> str:
    """At most 120 bytes, no character taken apart: a base keeps its marks, an emoji its parts."""
    if len(text.encode()) <= _MOST_BYTES:
        return text
    text = text.encode()[:_MOST_BYTES].decode("utf-8", "ignore") + "\0"
    end = len(text) - 1
    while end > 1 and _belongs_to_what_precedes(text, end):
        end -= 1
    kept = text[: end or len(text) - 1].rstrip("\0")
    head, blank, tail = kept.rpartition(" ")
    return head if blank and len(tail) < 20 and len(head) > 20 and head.isascii() else kept


def _belongs_to_what_precedes(text: str, at: int) -> bool:
    """Whether a cut before `at` is not surely between two whole characters: what follows is not known at the end."""
    before = text[at - 1]
    if text[at] == "\0":
        return before == _ZERO_WIDTH_JOINER or unicodedata.category(before) in ("So", "Sk", "Mn", "Cs")
    return bool(unicodedata.combining(text[at])) or _ZERO_WIDTH_JOINER in (before, text[at])


def candidates(title: str, note_id: str) -> Iterator[str]:
    """Names for the file of a note, best first; the last ones bear a part of its id and are surely free."""
    stem = file_stem(title)
    yield f"{stem}.md"
    for number in range(2, _NUMBERED):
        yield f"{stem} {number}.md"
    yield f"{stem} {note_id[-8:]}.md"
    yield f"{note_id}.md"
