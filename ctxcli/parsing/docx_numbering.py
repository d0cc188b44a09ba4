"""The automatic numbers of a Word document: what Word prints before a paragraph and never stores."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ctxcli.parsing.ooxml import Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HAN = "零一二三四五六七八九"
_LEGAL = "零壹贰叁肆伍陆柒捌玖"
_BULLET = "•"


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a list definition; `pattern` is like ``%1.%2``, `style` the paragraph style tied to it."""

    start: int = 1
    form: str = "decimal"
    pattern: str = ""
    legal: bool = False
    style: str = ""
    restart: int | None = None


@dataclass(slots=True)
class _List:
    abstract: str
    levels: dict[int, Level] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)


class Numbering:
    """Counts through the paragraphs of a document, in order."""

    def __init__(self, root: Element | None) -> None:
        self.abstracts: dict[str, dict[int, Level]] = {}
        self.links: dict[str, str] = {}
        self.styles: dict[str, str] = {}
        self.lists: dict[str, _List] = {}
        self.counts: dict[str, dict[int, int]] = {}
        self.seen: set[tuple[str, int]] = set()
        if root is not None:
            self._read(root)

    def level_of_style(self, number_id: str, style: str) -> int:
        """The level that a list ties to a paragraph style, else 0."""
        for depth, level in self._levels(number_id).items():
            if level.style == style:
                return depth
        return 0

    def is_bullet(self, number_id: str, depth: int) -> bool:
        """Whether the level prints a sign that does not count."""
        level = self._levels(number_id).get(depth)
        return level is not None and level.form == "bullet"

    def next(self, number_id: str, depth: int) -> str:
        """Count one paragraph and return its label: ``2.1``, ``第三章``, ``•``, "" where nothing is printed."""
        levels = self._levels(number_id)
        level = levels.get(depth)
        if level is None:
            return ""
        known = self.lists[number_id]
        counts = self.counts.setdefault(known.abstract, {})
        if depth in known.starts and (number_id, depth) not in self.seen:
            counts[depth] = known.starts[depth]
        else:
            counts[depth] = counts[depth] + 1 if depth in counts else level.start
        self.seen.add((number_id, depth))
        for deeper in [other for other in counts if other > depth]:
            restart = levels[deeper].restart if deeper in levels else None
            if restart is None or 0 < restart <= depth + 1:
                del counts[deeper]
        if level.form == "bullet":
            return _BULLET
        return "" if level.form == "none" and "%" not in level.pattern else _label(level, depth, levels, counts)

    def _levels(self, number_id: str) -> dict[int, Level]:
        known = self.lists.get(number_id)
        if known is None:
            return {}
        abstract = known.abstract
        if abstract in self.links and not self.abstracts.get(abstract):
            abstract = self.styles.get(self.links[abstract], abstract)
        return {**self.abstracts.get(abstract, {}), **known.levels}

    def _read(self, root: Element) -> None:
        for abstract in root.iter(f"{W}abstractNum"):
            key = abstract.get(f"{W}abstractNumId", "")
            self.abstracts[key] = dict(map(_level, abstract.iter(f"{W}lvl")))
            link, style = abstract.find(f"{W}numStyleLink"), abstract.find(f"{W}styleLink")
            if link is not None:
                self.links[key] = link.get(f"{W}val", "")
            if style is not None:
                self.styles[style.get(f"{W}val", "")] = key
        for number in root.iter(f"{W}num"):
            abstract_id = number.find(f"{W}abstractNumId")
            known = _List(abstract_id.get(f"{W}val", "") if abstract_id is not None else "")
            for override in number.iter(f"{W}lvlOverride"):
                depth = integer(override.get(f"{W}ilvl"), 0)
                start = override.find(f"{W}startOverride")
                if start is not None:
                    known.starts[depth] = integer(start.get(f"{W}val"), 1)
                for changed in override.iter(f"{W}lvl"):
                    known.levels[depth] = _level(changed)[1]
            self.lists[number.get(f"{W}numId", "")] = known


def integer(value: str | None, default: int) -> int:
    """The integer a value names, else the default."""
    try:
        return int(value or "")
    except ValueError:
        return default


def _value(level: Element, name: str) -> str | None:
    child = level.find(f"{W}{name}")
    return None if child is None else child.get(f"{W}val", "")


def _level(level: Element) -> tuple[int, Level]:
    legal = level.find(f"{W}isLgl")
    restart = _value(level, "lvlRestart")
    return integer(level.get(f"{W}ilvl"), 0), Level(
        start=integer(_value(level, "start"), 0 if _value(level, "start") is None else 1),
        form=_value(level, "numFmt") or "decimal",
        pattern=_value(level, "lvlText") or "",
        legal=legal is not None and legal.get(f"{W}val", "1") not in {"0", "false"},
        style=_value(level, "pStyle") or "",
        restart=None if restart is None else integer(restart, 0),
    )


def _label(level: Level, depth: int, levels: Mapping[int, Level], counts: Mapping[int, int]) -> str:
    label = level.pattern
    for place in range(depth + 1):
        mark = f"%{place + 1}"
        if mark not in label:
            continue
        other = levels.get(place, Level())
        form = "decimal" if level.legal else other.form
        label = label.replace(mark, format_number(counts.get(place, other.start), form))
    return label.strip()


def format_number(value: int, form: str) -> str:
    """Write a count in one of Word's number formats; unknown formats are written as decimals."""
    if form in {"none", "bullet"}:
        return ""
    if form.startswith("decimalEnclosed") and 1 <= value <= 20:
        return chr(0x245F + value)
    write = _FORMS.get(form)
    if write is None and form.startswith(("chineseLegal", "ideographLegal")):
        return _chinese(value, _LEGAL, "拾佰仟")
    if write is None and form.startswith(("chinese", "taiwanese", "japanese")):
        return _chinese(value, _HAN, "十百千")
    return write(value) if write else str(value)


def _roman(value: int) -> str:
    if not 0 < value < 4000:
        return str(value)
    out = ""
    for number, letters in zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"),
        strict=True,
    ):
        out += letters * (value // number)
        value %= number
    return out


def _chinese(value: int, digits: str, units: str) -> str:
    """``12`` → 十二, ``105`` → 一百零五; numbers from ten thousand on stay decimal."""
    if not 0 <= value < 10_000:
        return str(value)
    if value == 0:
        return digits[0]
    out, gap = "", False
    for place in (3, 2, 1, 0):
        digit = value // 10**place % 10
        if digit == 0:
            gap = bool(out)
            continue
        out += digits[0] if gap else ""
        out += digits[digit] + (units[place - 1] if place else "")
        gap = False
    return out[1:] if out.startswith(digits[1] + units[0]) and digits is _HAN else out


def _letters(value: int) -> str:
    """``1`` → A, ``27`` → AA, ``28`` → BB, as Word counts."""
    return chr(65 + (value - 1) % 26) * min((value - 1) // 26 + 1, 40) if value > 0 else ""


_FORMS: Mapping[str, Callable[[int], str]] = {
    "upperRoman": _roman,
    "lowerRoman": lambda value: _roman(value).lower(),
    "upperLetter": _letters,
    "lowerLetter": lambda value: _letters(value).lower(),
    "decimalZero": lambda value: f"{value:02d}",
    "decimalFullWidth": lambda value: "".join(chr(ord(digit) + 0xFEE0) for digit in str(value)),
    "ideographDigital": lambda value: "".join("〇" if digit == "0" else _HAN[int(digit)] for digit in str(value)),
}
