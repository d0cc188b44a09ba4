"""The reply of a language model checked against what it was shown; what cannot be verified is taken out and counted."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ctxcli.answering.llm_grounding import gives_orders, is_grounded
from ctxcli.answering.llm_prompt import NO_ANSWER
from ctxcli.answering.llm_quotes import find_quote
from ctxcli.text.sentences import sentence_spans

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_QUOTE = re.compile(
    r"^\s*(?:[-*]\s+)?[>＞]+\s*(?:[\[【]?\s*(?P<n>[0-9]{1,9})\s*[\]】]\s*[:：]?|(?P<m>[0-9]{1,9})\s*[:：])?\s*(?P<text>.*)$"
)
_BARE_QUOTE = re.compile(r"^\s*(?:[-*]\s+)?[\[【]\s*(?P<n>[0-9]{1,9})\s*[\]】]\s*[:：]?\s*(?P<text>[\"“「『].*)$")
_NUMBERS = r"[\[【]\s*[0-9]{1,9}(?:\s*[,，、;；]\s*[0-9]{1,9})*\s*[\]】]"
MARKS = re.compile(rf"{_NUMBERS}(?:\s*{_NUMBERS})*(?P<end>[.。!！?？;；]*)")
_ITEM = re.compile(r"^\s*(?:[-*•]|[0-9]{1,2}[.)、])\s+")
_NOTHING = re.compile(r"^[\W_]*(?:NO[ _]ANSWER|无法回答|沒有答案|没有答案|無法回答)[\W_]*$", re.IGNORECASE)

_LONGEST = 20_000
"""Characters of a reply that are looked at; three sentences with their quotes are far shorter."""


@dataclass(frozen=True, slots=True)
class Source:
    """An excerpt as numbered in the prompt: the chunk it is from, and the spans of its units (sentences, rows)."""

    text: str
    units: tuple[tuple[int, int], ...] = ()
    head: str = ""


@dataclass(frozen=True, slots=True)
class Cited:
    """A verified quote: ``sources[source].text[start:end]``."""

    source: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that may be shown, with what it cites; `is_item` where it stands in a list."""

    text: str
    cited: tuple[Cited, ...]
    is_item: bool = False


@dataclass(frozen=True, slots=True)
class Verified:
    """What is left of a reply. `removed` counts citations taken out; `declined` where the model found no answer."""

    statements: tuple[Statement, ...]
    removed: int
    declined: bool


@dataclass(slots=True)
class _Claim:
    """A sentence with the numbers it cites, and the quotes below it by number."""

    text: str
    numbers: list[int]
    is_item: bool
    block: int


@dataclass(slots=True)
class _Read:
    claims: list[_Claim] = field(default_factory=list)
    quotes: list[tuple[int, int, str]] = field(default_factory=list)  # block, number, text
    declined: bool = False


def verify(reply: str, sources: Sequence[Source], *, question: str, limit: int) -> Verified:
    """Check each sentence of a reply and each of its citations.

    A citation stays if its number is that of a source and a quote given for it stands there word for word, outside of
    what gives orders to the model. A sentence stays if a citation of it does, and if it claims no number or address
    that what it cites (or the question) does not hold. `limit` bounds the characters of all sentences together; the
    first may have three times as many.
    """
    read = _read(_THOUGHT.sub("", reply))
    removed = _uncited(read, len(sources))
    kept: list[Statement] = []
    room = limit
    for claim in read.claims:
        cited, lost = _checked(claim, read, sources)
        backing = [_backing(sources[one.source], one) for one in cited]
        fits = len(claim.text) <= (room if kept else 3 * limit)
        if cited and fits and not gives_orders(claim.text) and is_grounded(claim.text, backing, question):
            kept.append(Statement(claim.text, cited, claim.is_item))
            room -= len(claim.text)
            removed += lost
        else:
            removed += lost + len(cited)
    return Verified(tuple(kept), removed, read.declined and not read.claims)


def _read(reply: str) -> _Read:
    """Take a reply apart: sentences with numbers, and the quotes below them."""
    read, block, in_quotes = _Read(), 0, False
    for line in (" ".join(words) for one in reply[:_LONGEST].splitlines() if (words := one.split())):
        if line.startswith("```"):
            continue
        if _NOTHING.match(line):
            read.declined = True
            continue
        quote = _QUOTE.match(line) or _BARE_QUOTE.match(line)
        if quote:
            read.quotes += _quotes(quote, read.claims, block)
            in_quotes = True
            continue
        if in_quotes:
            block, in_quotes = block + 1, False
        read.claims += _claims(line, block)
    return read


def _quotes(quote: "re.Match[str]", claims: Sequence[_Claim], block: int) -> Iterator[tuple[int, int, str]]:
    """A quote with its number, or with that of the sentence above it."""
    found = quote.groupdict()
    number = found.get("n") or found.get("m")
    text = found["text"].strip()
    numbers = [int(number)] if number else (claims[-1].numbers if claims else [])
    trailing = re.search(rf"\s*({_NUMBERS})\s*$", text)
    if trailing and not number:
        numbers = numbers_of(trailing[1])
        text = text[: trailing.start()]
    for one in numbers:
        yield block, one, text


def _claims(line: str, block: int) -> Iterator[_Claim]:
    """The sentences of a line; a number belongs to the sentence right before it."""
    item = _ITEM.match(line)
    rest = line[item.end() :] if item else line.strip()
    at = 0
    for match in MARKS.finditer(rest):
        text = rest[at : match.start()].strip()
        text += match["end"] if text[-1:] not in ".。!！?？" else ""
        *before, last = [text[start:end].strip() for start, end in sentence_spans(text)] or [""]
        yield from (_Claim(one, [], False, block) for one in before if one)
        if last:
            yield _Claim(last, numbers_of(match.group()), bool(item), block)
        at = match.end()
    if rest[at:].strip(" .。"):
        yield _Claim(rest[at:].strip(), [], bool(item), block)


def numbers_of(marks: str) -> list[int]:
    """The numbers of marks such as ``[1][2, 3]``, each once."""
    return list(dict.fromkeys(int(number) for number in re.findall("[0-9]+", marks)))


def _uncited(read: _Read, count: int) -> int:
    """Quotes under numbers that no sentence cites."""
    named = {number for claim in read.claims for number in claim.numbers}
    return len({(number, text) for _, number, text in read.quotes if number not in named})


def _checked(claim: _Claim, read: _Read, sources: Sequence[Source]) -> tuple[tuple[Cited, ...], int]:
    """The citations of a sentence that hold, and how many do not.

    A sentence without any that stands word for word in a source is cited from there.
    """
    if not claim.numbers:
        found_in = (_cited(claim.text, at, source) for at, source in enumerate(sources))
        return tuple(one for one in found_in if one)[:1], 0
    cited: list[Cited] = []
    removed = 0
    for number in claim.numbers:
        if not 1 <= number <= len(sources):
            removed += 1
            continue
        given = _given(claim, number, read)
        found = [one for text in given if (one := _cited(text, number - 1, sources[number - 1]))]
        removed += max(len(given), 1) - len(found)
        cited += [one for one in found if one not in cited]
    return tuple(cited), removed


def _given(claim: _Claim, number: int, read: _Read) -> list[str]:
    """The quotes for a number: those below the sentence, else any, else the sentence itself."""
    mine = [text for block, one, text in read.quotes if one == number and block == claim.block]
    others = [text for _, one, text in read.quotes if one == number]
    return list(dict.fromkeys(mine or others)) or [claim.text]


def _cited(quote: str, at: int, source: Source) -> Cited | None:
    span = find_quote(quote, source.text, source.units)
    if span is None:
        return None
    found = Cited(at, *span)
    return None if gives_orders(_sentence_at(source, found)) else found


def _backing(source: Source, cited: Cited) -> str:
    """What a sentence may take from a citation: its sentence, and the headings above unless they give orders."""
    head = "" if gives_orders(source.head) else source.head
    return f"{head}\n{_sentence_at(source, cited)}"


def _sentence_at(source: Source, cited: Cited) -> str:
    """The quote with the rest of the units that it stands in."""
    touched = [(start, end) for start, end in source.units if start < cited.end and end > cited.start]
    start = min([cited.start, *(one[0] for one in touched)])
    end = max([cited.end, *(one[1] for one in touched)])
    return source.text[start:end]


__all__ = ["MARKS", "NO_ANSWER", "Cited", "Source", "Statement", "Verified", "numbers_of", "verify"]
