"""Turns of a session and of its archive found by what they say; lines that cannot bear on the query are not read."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from ctxcli.model.errors import ParseError
from ctxcli.model.message import INSTRUCTING, Message
from ctxcli.packing.history import Event
from ctxcli.packing.recall import Finder, Recalled, recalled
from ctxcli.packing.turns import converse
from ctxcli.parsing.messages import read_line
from ctxcli.storage import sessions as files
from ctxcli.text.question import language_of
from ctxcli.text.tokens import TokenCounter

_OWN_FORM = re.compile(r'\{"id":"[^"\\]*","at":"[^"\\]*","role":"([a-z]+)",')
"""How a line begins that ctx has written: its role can be told without reading the rest."""


@dataclass(slots=True)
class _Place:
    """Where a turn stands: in which file, from which line and byte to which; and the terms that it holds."""

    ending: str
    number: int
    start: int
    end: int
    terms: Counter[str] = field(default_factory=Counter)


def recall(
    folder: Path, name: str, query: str, *, archive: int, events: Mapping[str, Event], shown: Collection[str],
    problems: list[str],
) -> Iterator[Recalled]:  # fmt: skip
    """The turns nearest to a query, best first, but none of those `shown` (ids of turns).

    Texts are read as more turns are asked for. Of the archive `archive` bytes are read. `problems` gathers the lines
    that are no messages.
    """
    finder: Finder[_Place] = Finder(query)
    number = 0
    for ending, end in ((files.ARCHIVE, archive), (files.ENDING, None)):
        for place in _places(folder, name, ending, end, finder, problems):
            finder.add(place, place.terms, size=place.end - place.start)
            number += 1
    for place, score in finder.ranked(number):
        for turn in converse(_messages(folder, name, place)).turns:
            if turn.id not in shown:
                yield recalled(turn, score, archived=place.ending == files.ARCHIVE, events=events)


def _places(
    folder: Path, name: str, ending: str, end: int | None, finder: Finder[_Place], problems: list[str]
) -> Iterator[_Place]:
    """The turns of a file."""
    place: _Place | None = None
    for number, at, data in files.lines(folder, name, ending=ending, end=end):
        raw = data.decode("utf-8", "replace")
        is_near = finder.may_hold(raw)
        own = _OWN_FORM.match(raw)
        role, text = own[1] if own else "", ""
        if is_near or not own:
            try:
                message = read_line(data)
            except ParseError as error:
                problems.append(f"{name}{ending}:{number}: {error.message}")
                continue
            role, text = message.role, message.content
        if role in INSTRUCTING:
            continue
        if place is None or role == "user":
            if place:
                yield place
            place = _Place(ending, number, at, at)
        place.end = at + len(data)
        if is_near:
            place.terms.update(finder.terms_in(text))
    if place:
        yield place


def _messages(folder: Path, name: str, place: _Place) -> Iterator[Message]:
    data = files.part(folder, name, ending=place.ending, start=place.start, end=place.end)
    for number, line in enumerate(data.split(b"\n"), place.number):
        try:
            message = read_line(line)
        except ParseError:
            continue
        yield message if message.id else replace(message, id=f"line-{number}")


def fitting(
    found: Iterable[Recalled], k: int, left: int | None, counter: TokenCounter
) -> tuple[list[Recalled], list[Message]]:
    """The first `k` turns, whole, or their summaries where only these fit into the tokens left (None: no limit)."""
    rows, messages = [], []
    for one in islice(found, k):
        for text in (one.text, one.summary):
            message = _recalled_message(one.at, text)
            size = counter.count_message(message)
            if text and (left is None or size <= left):
                rows.append(one)
                messages.append(message)
                left = None if left is None else left - size
                break
    return rows, messages


_RECALLED = {"en": "recalled", "zh": "回忆"}


def _recalled_message(at: str, text: str) -> Message:
    head = ", ".join(filter(None, (_RECALLED[language_of(text)], at)))
    return Message("system", f"[{head}]\n{text}")
