"""Section numbers of printed headings, and whether one follows another."""

import re
from dataclasses import dataclass
from typing import Literal

from ctxcli.parsing.sections import NUMBER, split_number

Kind = Literal["decimal", "single", "han", "enumerated", "word", "appendix", "letter", "roman", "sign"]

_HAN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
_GLUED = re.compile(r"(\d+(?:\.\d+)+)(?=[A-Z][a-z])")
_HAN_UNIT = re.compile(r"[编篇部章节節条條款项回讲]")
_PLAIN_LETTER = re.compile(r"[A-Z](?=\d)")


@dataclass(frozen=True, slots=True)
class Number:
    """A number at the start of a line: as written, its parts as integers, what follows it.

    `family` names the scheme it belongs to (decimal numbers of any depth are one): only numbers of
    one family follow each other. `rest` is the text after it, `tight` means that no blank parts the two.
    """

    written: str
    parts: tuple[int, ...]
    family: str
    kind: Kind
    rest: str
    tight: bool

    @property
    def depth(self) -> int:
        """How many parts the number has."""
        return len(self.parts)


def read_number(text: str) -> Number | None:
    """The section number at the start of a line, None if there is none or it is a quantity."""
    text = _GLUED.sub(r"\1 ", text, count=1)
    if text.isdecimal() and len(text) <= 2:
        return Number(text, (int(text),), "decimal", "single", "", False) if text[0] != "0" else None
    match = NUMBER.match(text)
    if not match:
        return None
    kind = match.lastgroup or ""
    kind = "sign" if match["sign"] else kind
    written, rest = split_number(text)
    if not written:
        if kind not in {"single", "letter"} or text[match.end() :].strip():
            return None
        written, rest = match[kind], ""
    parts, family = _parts(written, kind)
    if not parts or any(part > 999 for part in parts) or re.match(r"0\d", written):
        return None
    end = match.end(kind) if kind != "sign" else match.end("signed")
    return Number(written, parts, family, kind, rest, text[end : end + 1].strip() != "")  # type: ignore[arg-type]


def _parts(written: str, kind: str) -> tuple[tuple[int, ...], str]:
    if kind in {"decimal", "single", "sign"}:
        plain = _PLAIN_LETTER.sub("", written) if re.match(r"[A-Z]\d+\.", written) else written
        return _dotted(plain)
    if kind == "roman" or (kind == "letter" and written in {"I", "V", "X"}):
        return (roman_value(written) or 0,), "roman"
    if kind == "letter":
        return (ord(written[0].upper()) - 64 + 100,), "decimal"
    if kind == "han":
        unit = _HAN_UNIT.search(written)
        return (han_value(written[1 : unit.start()] if unit else written),), unit[0] if unit else "han"
    if kind == "enumerated":
        inner = written.strip("（()）")
        return (han_value(inner),), "（" if inner != written else "、"
    word, _, value = written.replace("附录", "Appendix ").replace("附件", "Annex ").partition(" ")
    parts, _ = _dotted(value.strip())
    family = word.lower()
    return parts, "decimal" if family in {"chapter", "section", "appendix", "annex"} else family


def _dotted(written: str) -> tuple[tuple[int, ...], str]:
    """Parts of ``6.3.2``, of ``A.2`` (letters count from 101, so that they follow the chapters), of ``IV``."""
    parts: list[int] = []
    for word in written.split("."):
        if word.isdigit():
            parts.append(int(word))
        elif len(word) == 1 and word.isalpha() and word.isascii():
            parts.append(ord(word.upper()) - 64 + 100)
        elif re.fullmatch(r"[IVXLC]+", word, re.IGNORECASE):
            parts.append(roman_value(word) or 0)
        else:
            parts.append(han_value(word))
    return tuple(parts), "decimal"


def han_value(written: str) -> int:
    """The value of a Chinese or Arabic numeral (``二十一`` → 21); 0 if it is none."""
    written = re.sub(r"\s", "", written)
    if written.isdigit():
        return int(written)
    total, digit = 0, 0
    for character in written:
        if character in _HAN_UNITS:
            total += (digit or 1) * _HAN_UNITS[character]
            digit = 0
        elif character in _HAN_DIGITS:
            digit = _HAN_DIGITS[character]
        else:
            return 0
    return total + digit


def roman_value(number: str) -> int | None:
    """The value of a roman numeral below 400, None if it is none (``ivx``)."""
    units = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
    letters = number.lower()
    if not re.fullmatch(r"c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", letters) or not letters:
        return None
    values = [units[letter] for letter in letters]
    return sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))


def follows(new: tuple[int, ...], current: tuple[int, ...], *, reach: int = 3) -> bool:
    """Whether `new` can come after `current`: its first child, or the next of it or of an ancestor.

    `reach` is how far a sibling may lie ahead (headings may be missed).
    """
    if not current:
        return new[0] in {0, 1, 101} and all(part <= 1 for part in new[1:])
    if len(new) > len(current) and new[: len(current)] == current:
        return all(part <= 1 for part in new[len(current) :])
    depth = len(new)
    if depth <= len(current) and new[:-1] == current[: depth - 1]:
        step = new[-1] - current[depth - 1]
        return 0 < step <= reach or (new[-1] == 101 and current[depth - 1] < 101)
    if depth > 1 and new[0] == current[0] + 1:
        return all(part <= 1 for part in new[1:])
    return False
