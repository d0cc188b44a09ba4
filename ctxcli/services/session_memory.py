"""What is remembered of a session: an event for each old turn, kept beside it and made anew where it is lost."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ctxcli.model.errors import ParseError
from ctxcli.model.message import INSTRUCTING, Message
from ctxcli.packing import history
from ctxcli.packing.extract import Extract
from ctxcli.packing.history import Event, MemoryState
from ctxcli.packing.turns import Turn, converse
from ctxcli.parsing.messages import read_line
from ctxcli.storage import sessions as files

ROOM = 800
"""Tokens that the summary of the archive may have unless `compact` says otherwise."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is remembered; the first `archived` turns are those of the archive, the others were summarised in a chat.

    `bytes` of the archive hold: what is behind them was left by a compaction that was broken off, and still stands in
    the session. `room` is what the summary of the archive may have (tokens).
    """

    state: MemoryState = field(default_factory=MemoryState)
    archived: int = 0
    bytes: int = 0
    room: int = ROOM

    @property
    def archive(self) -> MemoryState:
        """What is remembered of the archive."""
        return self.state.first(self.archived)


def load(folder: Path, name: str, notices: list[str]) -> Remembered:
    """What is remembered of a session, brought up to the archive as it is."""
    found, problem = files.read_memory(folder, name)
    try:
        stored = _read(found) if found else None
    except (KeyError, TypeError, ValueError):
        stored, problem = None, f"{name}{files.MEMORY} does not hold what it should"
    if problem:
        notices.append(f"{problem}: old turns are summarised anew")
    size = files.size(folder, name, ending=files.ARCHIVE)
    if stored and stored.bytes == size:
        return stored
    if stored and stored.bytes < size and _is_left_over(folder, name, start=stored.bytes):
        return stored
    known = stored if stored and stored.bytes < size else Remembered()
    turns = converse(_messages(folder, name, start=known.bytes)).turns
    state = history.absorb(known.state, history.unsummarised(turns, known.state))
    archived = known.archived + len(turns)
    return replace(known, state=state.fold(archived), archived=archived, bytes=size)


def save(folder: Path, name: str, remembered: Remembered) -> None:
    """Keep what is remembered, of the archive all together; the caller holds the lock."""
    folded = replace(remembered, state=remembered.state.fold(remembered.archived))
    files.write_memory(folder, name, asdict(folded))


def _read(found: dict[str, Any]) -> Remembered:
    state = found["state"]
    events = (Event(one["id"], one["at"], int(one["messages"]), _extracts(one["extracts"])) for one in state["events"])
    return Remembered(
        MemoryState(
            tuple(events),
            _extracts(state["worded"]),
            int(state["worded_turns"]),
            _extracts(state["folded"]),
            int(state["folded_turns"]),
            int(state["folded_messages"]),
        ),
        int(found["archived"]),
        int(found["bytes"]),
        int(found["room"]),
    )


def _extracts(rows: Iterable[dict[str, Any]]) -> tuple[Extract, ...]:
    return tuple(Extract(**row) for row in rows)


def _messages(folder: Path, name: str, *, start: int, end: int | None = None) -> Iterator[Message]:
    for number, at, data in files.lines(folder, name, ending=files.ARCHIVE, end=end):
        if at >= start and (message := message_of(data)):
            yield message if message.id else replace(message, id=f"line-{number}")


def archived(folder: Path, name: str, *, end: int) -> tuple[Turn, ...]:
    """The turns in the first `end` bytes of the archive."""
    return converse(_messages(folder, name, start=0, end=end)).turns


def message_of(data: bytes) -> Message | None:
    """The message of a line, None where it holds none."""
    try:
        return read_line(data)
    except ParseError:
        return None


def _is_left_over(folder: Path, name: str, *, start: int) -> bool:
    """Whether the archive behind `start` is what the session begins with: the compaction has not come to its end."""
    session = (data for _, _, data in files.lines(folder, name) if not _instructs(data))
    moved = (data for _, at, data in files.lines(folder, name, ending=files.ARCHIVE) if at >= start)
    return all(data == (there := next(session, b"")) or there.startswith(data) for data in moved)


def _instructs(data: bytes) -> bool:
    message = message_of(data)
    return message is not None and message.role in INSTRUCTING
