"""The first step of token counting: text into the pieces within which bytes are merged.

The published patterns speak of Unicode classes (``\\p{L}``), which `re` does not know. Here each character beyond
ASCII is first replaced by an ASCII stand-in of its class, one for one, and the pattern speaks of ASCII alone. The
classes are those of the reference implementation, whatever Unicode version Python has.
"""

import os.path
import re
import sys
from array import array
from bisect import bisect_right
from functools import cache

STAND_INS = "Aa\x01\x020\x0b!"
"""What stands for upper or title case, lower case, other letters, marks, numbers, white space, all else."""
_LONG_S = 0x17F
_CONTROLS = re.compile("[\x01\x02]")

_UPPER, _LOWER, _LETTER = r"A-Z\x01\x02", r"a-z\x01\x02", r"A-Za-z\x01"
_SPACE = r"\t-\r "
_ENDING = r"'(?:[sStTmMdD]|[rRvV][eE]|[lL][lL])"
_PATTERNS = {
    "o200k_base": (
        rf"[^\r\n{_LETTER}0-9]?[{_UPPER}]*[{_LOWER}]+(?:{_ENDING})?"
        rf"|[^\r\n{_LETTER}0-9]?[{_UPPER}]+[{_LOWER}]*(?:{_ENDING})?"
        rf"|[0-9]{{1,3}}| ?[^{_SPACE}{_LETTER}0-9]+[\r\n/]*"
        rf"|[{_SPACE}]*[\r\n]+|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]+"
    ),
    "cl100k_base": (
        rf"{_ENDING}|[^\r\n{_LETTER}0-9]?[{_LETTER}]+|[0-9]{{1,3}}| ?[^{_SPACE}{_LETTER}0-9]+[\r\n]*"
        rf"|[{_SPACE}]+\Z|[{_SPACE}]*[\r\n]|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]"
    ),
}
REFERENCE_PATTERNS = {
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
}
"""The published patterns, for the reference implementation."""


def data_file(name: str) -> str:
    """The place of a file that comes with the package."""
    return os.path.join(os.path.dirname(__file__), "data", name)  # noqa: PTH118, PTH120 - pathlib is slow to load


class _Classes(dict[int, str]):
    """Stand-ins by code point, filled as characters are met."""

    def __init__(self) -> None:
        super().__init__({code: chr(code) for code in range(128)})
        self.update({1: "!", 2: "!", _LONG_S: "s"})
        with open(data_file("classes.bin"), "rb") as handle:  # noqa: PTH123 - pathlib is slow to load
            ranges = array("I", handle.read())
        if sys.byteorder == "big":
            ranges.byteswap()
        self._ranges = ranges

    def __missing__(self, code: int) -> str:
        ranges = self._ranges
        found = STAND_INS[ranges[bisect_right(ranges, code << 3 | 7) - 1] & 7]
        self[code] = found
        return found


@cache
def _classes() -> _Classes:
    return _Classes()


@cache
def _pattern(encoding: str) -> "re.Pattern[str]":
    return re.compile(_PATTERNS[encoding])


def pieces(text: str, encoding: str) -> list[str]:
    """The pieces of `text`, which tile it; `text` holds no surrogates."""
    pattern = _pattern(encoding)
    if text.isascii() and not _CONTROLS.search(text):
        return pattern.findall(text)
    found, start = [], 0
    for code in pattern.findall(text.translate(_classes())):
        end = start + len(code)
        found.append(text[start:end])
        start = end
    return found
