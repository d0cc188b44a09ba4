"""Section numbers in headings, and heading paths from heading levels."""

import re
from collections.abc import Iterable

from ctxcli.model.document import Section

_HAN_NUMBER = "[零〇一二三四五六七八九十百千两0-9０-９]+"

NUMBER = re.compile(
    rf"""\s*(?:
      (?P<han>第\s*{_HAN_NUMBER}\s*[编篇部章节節条條款项回讲](?:之[一二三四五六七八九十]+)?)
    | (?P<enumerated>[（(][一二三四五六七八九十百0-9]+[)）]|[一二三四五六七八九十百]+(?=[、.．，]))[、.．，]?
    | (?P<sign>§+)\s*(?P<signed>[0-9A-Z]+(?:\.[0-9]+)*)\.?
    | (?P<word>(?:Chapter|Section|Part|Article|Appendix|Annex|Rule)\s+
        (?:[0-9]+(?:\.[0-9]+)*|[IVXLC]+|[A-Z](?:\.[0-9]+)*)(?![A-Za-z]))[.:：—–-]?
    | (?P<appendix>附[录錄件]\s*[A-Z0-9一二三四五六七八九十]+(?:\.[0-9]+)*)[.:：、]?
    | (?P<decimal>[A-Z]?[0-9]+(?:[.．][0-9]+)+|[A-Z](?:\.[0-9]+)+)[.．、:：]?(?=[\s\u3000]|[\u2e80-\u9fff（《“"]|$)
    | (?P<single>[0-9]{{1,3}})(?:[.．、:：)）](?=[\s\u3000]|[^\s0-9.]|$)|(?=[\s\u3000]))
    | (?P<roman>(?=[IVX]{{2}})X{{0,3}}(?:IX|IV|VI{{0,3}}|I{{1,3}}|))[.．](?=\s)
    | (?P<letter>[A-Z])[.．](?=\s)
    )\s*""",
    re.VERBOSE | re.IGNORECASE,
)
"""The number at the start of a heading: the forms of laws, standards, manuals and books."""

_UNITS = re.compile(r"\s*(?:mg|kg|g|ml|km|cm|mm|%|％|年|月|日|years?|days?|hours?|minutes?|[KMGT]i?B)\b", re.IGNORECASE)


def split_number(heading: str) -> tuple[str, str]:
    """Return the section number as written ("" if there is none) and the rest of a heading.

    ``6.3.2 Primary analysis`` → ``("6.3.2", "Primary analysis")``, ``第三章 总则`` → ``("第三章", "总则")``.
    The marks around a number stay out (``4.1.`` → ``4.1``, ``一、`` → ``一``, ``（二）`` stays).
    Years and quantities are no numbers: ``2024 in review`` and ``3.5 mg daily`` have none.
    """
    heading = heading.strip()
    match = NUMBER.match(heading)
    if not match:
        return "", heading
    rest = heading[match.end() :].strip()
    kind = match.lastgroup or ""
    number = (match.group("signed") if match.group("sign") else match.group(kind)).replace("．", ".")
    if kind in {"decimal", "single"} and _UNITS.match(heading[match.end(kind) :]):
        return "", heading
    if kind in {"decimal", "letter"} and not (number[0].isdigit() or number[0].isupper()):
        return "", heading
    if kind == "roman" and not number.isupper():
        return "", heading
    if not rest and kind in {"single", "letter", "roman"}:
        return "", heading
    return re.sub(r"\s+", " ", number).strip(), rest.lstrip("、.．:：—–-　 ").strip() or rest


def nest(headings: Iterable[tuple[int, int, str, str]]) -> tuple[Section, ...]:
    """Build sections from ``(start, level, heading line, anchor)`` in document order.

    The path of a section holds the nearest heading of each smaller level before it.
    """
    sections: list[Section] = []
    stack: list[tuple[int, str]] = []
    for start, level, heading, anchor in headings:
        number, title = split_number(heading)
        while stack and stack[-1][0] >= level:
            stack.pop()
        label = f"{number} {title}".strip() if number else title
        stack.append((level, label))
        sections.append(Section(start, level, number, title, tuple(name for _, name in stack), anchor))
    return tuple(sections)
