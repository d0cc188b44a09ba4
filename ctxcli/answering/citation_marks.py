"""Finds the marks in the text of an answer, ``[7]``, that no source bears."""

import re
from collections.abc import Collection, Iterable, Iterator

_CODE_SPAN = re.compile(r"(?P<ticks>`{1,3}).+?(?P=ticks)|<code>[^<]{1,999}</code>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^\s*(?P<fence>`{3,}|~{3,})")
_INDENTED = re.compile(r"^(?: {4}|\t)\s*(?![-*+] |[0-9]+[.)] )\S")
_DEFINITION = re.compile(r"^\s{0,3}\[\^?(?P<n>[0-9]{1,9})\]:\s")
_MARK = r"(?:\[\^?[0-9]{1,3}(?:\s*[,，、;；]\s*[0-9]{1,3})*\]|【\s*[0-9]{1,3}\s*】|［\s*[0-9]{1,3}\s*］)"
_MARKS = re.compile(rf"(?:(?<![A-Za-z0-9_=/&$#@!\\\]])|(?=[【［])){_MARK}(?:[ \t]?{_MARK})*(?!\(|\[(?!\^?[0-9]))")
_ONE = re.compile(_MARK)
_NUMBER = re.compile(r"[0-9]+")


def stray_marks(text: str, *, known: Collection[int], quotes: Iterable[str]) -> list[int]:
    """The numbers, ascending, that `text` cites and that are not `known`.

    What stands in code, behind a word (``arr[7]``), in front of an address (``[7](…)``) or in one of the `quotes` cites
    nothing, nor does a number that is defined as a footnote or a link (``[7]: …``). Of a list (``[1, 7]``) one number
    must be known: others are ranges.
    """
    lines, defined = _prose(text.splitlines())
    found: set[int] = set()
    for marks in _MARKS.finditer(_CODE_SPAN.sub(" ", "\n".join(lines))):
        for mark in _ONE.findall(marks[0]):
            numbers = [int(number) for number in _NUMBER.findall(mark)]
            if len(numbers) == 1 or any(number in known for number in numbers):
                found.update(numbers)
    if not found - {*known, *defined}:
        return []
    held = {int(number) for quote in quotes for mark in _ONE.findall(quote) for number in _NUMBER.findall(mark)}
    return sorted(found - {*known, *defined, *held})


def _prose(lines: Iterable[str]) -> tuple[list[str], set[int]]:
    """The lines that are no code and no definition, and the numbers that are defined."""
    defined: set[int] = set()
    kept: list[str] = []
    for line in _unfenced(lines):
        if found := _DEFINITION.match(line):
            defined.add(int(found["n"]))
        else:
            kept.append(line)
    return kept, defined


def _unfenced(lines: Iterable[str]) -> Iterator[str]:
    fence, before_is_code = "", True
    for line in lines:
        found = _FENCE.match(line)
        if fence:
            if found and found["fence"].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif found:
            fence = found["fence"]
        elif before_is_code and _INDENTED.match(line):
            continue
        else:
            before_is_code = not line.strip()
            yield line
