"""Where sentences end, in Chinese and English."""

import re
from collections.abc import Iterator

_CLOSE = r"[”’」』）)】》〉\"'*_`\]]*"
_NEXT = r"[“‘「『（(\[\"'*_`#<-]*[A-Z0-9\u00c0-\u024f\u0370-\u1fff\u2e80-\U0003ffff]"
_MARK = re.compile(r"[。！？；….!?][。！？；….!?]*")
_MARK_OR_GAP = re.compile(r"[。！？；….!?\n](?:(?<=\n)\s*\n|(?<!\n)[。！？；….!?]*)")
"""Where a sentence may end; what follows decides. One character class comes first, so that the search is fast."""
_ALWAYS = re.compile(_CLOSE + r"\s*")
_GAP = re.compile(r"\n[ \t\r\u3000]+\n")
_WITH_BLANK = re.compile(rf"{_CLOSE}\s+(?={_NEXT})|(?<=[!?])(?=[\u2e80-\u9fff])")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[“\"'*_])(?:e\.g|i\.e|cf|vs|etc|al|Fig|Figs|No|Nos|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|Inc|Ltd|Co|Corp|Sec|Eq|Eqs|pp?|"
    r"vol|ca|approx|resp|Ref|Refs|Ch|App|Art|Gen|Col|Sgt|Lt|Rev|Hon|Mt|Ft|[A-Z]|U\.S|U\.K|U\.N|a\.m|p\.m)$"
    r"|(?:^|\n)\s*[0-9]{1,2}$"
)
_LONGEST = 1_200
"""Characters; a longer sentence is cut at a comma, a blank, or just there."""
_LONGEST_CLUSTER = 64
"""Characters; what is drawn as one is cut where it is longer, which no script needs."""
_COMMA = re.compile(r"[，,、：:]\s*|\s+")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the sentences of `text` as ascending (start, end) offsets that tile it.

    The white space after a sentence belongs to it. A full stop after an abbreviation, an initial or
    an enumerating number does not end one. No sentence is longer than 1,200 characters.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in (*_ends(text), len(text)):
        if end - start > _LONGEST:
            spans.extend(_cut(text, start, end))
        elif end > start:
            spans.append((start, end))
        start = end
    return spans


def _ends(text: str) -> Iterator[int]:
    marks = _MARK_OR_GAP if "\n\n" in text or _GAP.search(text) else _MARK
    for match in marks.finditer(text):
        mark, end = text[match.start()], match.end()
        if mark in ".!?":
            after = _WITH_BLANK.match(text, end)
            if after and not (mark == "." and _is_no_stop(text, match.start())):
                yield after.end()
        elif mark == "\n":
            yield end
        else:
            after = _ALWAYS.match(text, end)
            yield after.end() if after else end


def _is_no_stop(text: str, at: int) -> bool:
    """Whether the full stop at `at` follows a blank, an abbreviation, an initial or an enumerating number."""
    return at == 0 or text[at - 1].isspace() or bool(_ABBREVIATION.search(text, max(0, at - 12), at))


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > _LONGEST:
        cut = start + _LONGEST
        for match in _COMMA.finditer(text, start + _LONGEST // 2, start + _LONGEST):
            cut = match.end()
        last = min(end, cut + _LONGEST_CLUSTER)
        while cut < last and _joins(text, start, cut):
            cut += 1
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _joins(text: str, start: int, at: int) -> bool:
    """Whether the characters before and after `at` are drawn as one: marks, emoji with joiners or skin, flags.

    The letters of flags are paired from `start` on, or from where their row begins.
    """
    import unicodedata  # on use: nearly no sentence is that long

    after = text[at]
    if _is_flag_letter(after):
        first = at
        while first > start and _is_flag_letter(text[first - 1]):
            first -= 1
        return (at - first) % 2 == 1
    return (
        after in "\u200d\ufe0e\ufe0f\u20e3"
        or text[at - 1] == "\u200d"
        or unicodedata.category(after) in {"Mn", "Mc", "Me"}
        or "\U0001f3fb" <= after <= "\U0001f3ff"
    )


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
