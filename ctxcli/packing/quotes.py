"""Quotes of documents as contexts show them; quicker to load than `text.sentences`, which reads whole documents."""

_SHORTEST = 12
"""Characters of an English sentence, at least."""
_WIDE_ENDS = ("。", "！", "？", "；")
_ENDS = (*_WIDE_ENDS, ". ", "! ", "? ", ".\n", "\n")


def whole_sentences(quote: str) -> str:
    """A quote without the sentence that it breaks off in."""
    text = quote.strip()
    if text.endswith(("。", "！", "？", "；", ".", "!", "?", ":", "：", ")", "）", "”", '"', "|")):
        return text
    cut = max((text.rfind(mark) + len(mark.rstrip()) for mark in _ENDS if mark in text), default=0)
    return text[:cut].rstrip() or text


def sentences(quote: str) -> list[str]:
    """The sentences of a quote; an abbreviation stays with what follows."""
    found, start = [], 0
    for at in range(1, len(quote) + 1):
        ends = quote.endswith(_ENDS, start, at) and (at - start >= _SHORTEST or quote[at - 1] in _WIDE_ENDS)
        if ends or at == len(quote):
            found.append(quote[start:at].strip())
            start = at
    return list(filter(None, found))


def marked(quote: str) -> str:
    """A quote with the marks of what is left out before and behind it."""
    return f"[…] {quote} […]"
