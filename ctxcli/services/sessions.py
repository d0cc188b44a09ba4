"""Sessions: conversations kept, shown under a policy, recalled, compacted."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path

from ctxcli.model.errors import NotFoundError, ParseError, UsageError
from ctxcli.model.message import INSTRUCTING, RESULTS, Message, ToolCall
from ctxcli.model.session import Compaction, DroppedTurn, Session, SessionEntry, SessionList, SessionView
from ctxcli.packing import history
from ctxcli.packing.history import Limits, MemoryState, Policy
from ctxcli.packing.recall import Recalled
from ctxcli.packing.turns import Conversation, Turn, converse, with_whole_characters
from ctxcli.parsing.messages import read_line
from ctxcli.services import session_memory
from ctxcli.services.session_memory import ROOM, Remembered, message_of
from ctxcli.services.session_recall import fitting, recall
from ctxcli.services.workspace import Workspace, is_kb_name
from ctxcli.storage import sessions as files
from ctxcli.storage.json_bytes import json_bytes
from ctxcli.text.question import Language
from ctxcli.text.tokens import TokenCounter

_BLOCK = 65_536
_LOOKED_BACK = 1 << 20
"""Bytes that are searched for the call of a tool result."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a session: its bytes, and the message in it, None where it holds none."""

    data: bytes
    message: Message | None


class Sessions:
    """The sessions of a workspace. `notices` gathers what is to be said beside the results."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.notices: list[str] = []
        self.folder = workspace.folder / "sessions"

    def new(self, name: str | None = None) -> SessionEntry:
        """Make a session; without a name it is called by date and time."""
        name = checked_name(name or datetime.now().strftime("%Y-%m-%d-%H%M%S"))
        if not files.create(self.folder, name):
            hint = f"add to it with: ctx session add {name}"
            raise UsageError(f"there is a session {name!r} already", code="session_exists", hint=hint)
        return self.entry(name)

    def entry(self, name: str) -> SessionEntry:
        """A session at a glance."""
        status = os.stat(self.folder / (name + files.ENDING))  # noqa: PTH116
        held = [message_of(data) is not None for _, _, data in files.lines(self.folder, name)]
        archive = files.lines(self.folder, name, ending=files.ARCHIVE, end=self.remembered(name).bytes)
        return SessionEntry(
            name,
            sum(held),
            sum(message_of(data) is not None for _, _, data in archive),
            len(held) - sum(held),
            status.st_size,
            datetime.fromtimestamp(status.st_mtime).astimezone().isoformat(timespec="milliseconds"),
        )

    def entries(self) -> SessionList:
        """All sessions, last changed first."""
        found = [self.entry(name) for name in files.names(self.folder)]
        self.notices += [
            f"lines of {one.name} that hold no message: {one.problems}; see: ctx session show {one.name}"
            for one in found
            if one.problems
        ]
        return SessionList(tuple(sorted(found, key=lambda one: (one.updated_at, one.name), reverse=True)))

    def find(self, name: str) -> str:
        """The name of a session that is there: whole, or as a unique beginning."""
        names = files.names(self.folder)
        if name in names:
            return name
        near = [one for one in names if one.startswith(name)] if name else []
        if len(near) == 1:
            return near[0]
        if near:
            hint = f"there are: {', '.join(near[:5])}"
            raise NotFoundError(f"{name!r} is the beginning of {len(near)} sessions", code="ambiguous", hint=hint)
        raise self._missing(name, names)

    def _missing(self, name: str, names: Sequence[str]) -> NotFoundError:
        hint = f"there is: {', '.join(names[:5])}" if names else "make one with: ctx session new"
        return NotFoundError(f"there is no session {name!r}", code="session_not_found", hint=hint)

    def add(self, name: str, message: Message) -> Message:
        """Append a message. The cost does not depend on the length of the session."""
        name = self.find(name)
        if message.content and not message.content.strip() and not message.tool_calls and message.role not in RESULTS:
            raise UsageError("the message is blank", code="no_content", hint="say something in it")
        if message.role == "tool":
            self._check_call(name, message)
        return self._append(name, [message])[0]

    def turn(self, name: str) -> AbstractContextManager[None]:
        """Hold the session for a question and all that follows, so that two conversations do not mix their messages."""
        return files.turn(self.folder, name, timeout=self._timeout)

    def _check_call(self, name: str, message: Message) -> None:
        """UsageError where a tool result cannot belong to any call of the session."""
        lines, is_all = files.tail(self.folder, name, size=_LOOKED_BACK)
        known = {call.id for line in lines for call in _calls(line)}
        if message.tool_call_id not in known and is_all:
            raise UsageError(
                f"there is no call {message.tool_call_id!r} in the session {name}",
                code="no_such_call",
                hint="add the assistant's message with its tool_calls first",
            )

    def _append(self, name: str, messages: Sequence[Message]) -> Sequence[Message]:
        now = datetime.now().astimezone()
        at = now.isoformat(timespec="milliseconds")
        stored = [replace(one, id=one.id or new_id(now), at=one.at or at) for one in messages]
        with files.lock(self.folder, name, timeout=self._timeout):
            aside = files.append(self.folder, name, b"".join(map(_encoded, stored)))
        if aside:
            self.notices.append(f"the last line of {name} was torn off; it is kept as {aside}")
        return stored

    @property
    def _timeout(self) -> float:
        return self.workspace.settings.number("index.lock_seconds")

    def import_messages(self, name: str, messages: Iterable[Message], *, append: bool = False) -> SessionEntry:
        """Make a session from messages, or with `append` add them to one. All of them, or nothing."""
        rows = _with_own_ids(messages)
        talk = converse(rows)
        lost = [one for one in talk.problems if "has no call" in one]
        if lost:
            raise ParseError(
                lost[0], code="no_such_call", hint="each result stands right behind the call that it names"
            )
        name = checked_name(name)
        if not files.create(self.folder, name) and not append:
            raise UsageError(
                f"there is a session {name!r} already", code="session_exists", hint="use --append, or another --name"
            )
        if rows:
            self._append(name, rows)
        return self.entry(name)

    def read(self, name: str, *, last: int = 0) -> Session:
        """The messages of a session; lines that are none are told, and stay where they are."""
        name = self.find(name)
        problems: list[str] = []
        lines = self._lines(name, problems)
        messages = [line.message for line in lines if line.message]
        return Session(name, tuple(messages[-last:] if last else messages), tuple(problems), len(messages))

    def _lines(self, name: str, problems: list[str]) -> Sequence[_Line]:
        """The lines, each message with an id of its own: by the number of its line where it has none."""
        found, seen = [], set()
        for number, _, data in files.lines(self.folder, name):
            try:
                message = read_line(data)
            except ParseError as error:
                problems.append(f"{name}{files.ENDING}:{number}: {error.message}")
                found.append(_Line(data, None))
            else:
                own = message.id if message.id not in seen else ""
                message = replace(message, id=own or f"line-{number}")
                seen.add(message.id)
                found.append(_Line(data, message))
        return found

    def newest(self, name: str, *, size: int) -> Sequence[Message]:
        """The instructions at the beginning and the messages within the last `size` bytes, in order."""
        name = self.find(name)
        lines, is_all = files.tail(self.folder, name, size=size)
        if not is_all:
            lines = [*files.head(self.folder, name, size=_BLOCK), *lines]
        found: list[Message] = []
        for number, data in enumerate(lines):
            try:
                message = read_line(data)
            except ParseError as error:
                self.notices.append(f"{name}{files.ENDING}: a line is no message: {error.message}")
                continue
            found.append(message if message.id else replace(message, id=f"line-{number}"))
        return found

    def conversation(self, name: str) -> Conversation:
        """The session as turns; what is wrong with it goes to `notices`."""
        problems: list[str] = []
        messages = (line.message for line in self._lines(name, problems) if line.message)
        talk = converse(map(with_whole_characters, messages))
        self.notices += [*problems, *talk.problems]
        return talk

    def view(
        self, name: str, policy: Policy, limits: Limits, *, model: str | None = None, query: str = "", k: int = 3
    ) -> SessionView:
        """What a model is to be shown; nothing is written. With a query turns that are not shown are recalled.

        Raises UsageError where the limit of the policy does not hold even the instructions.
        """
        name, counter = self.find(name), TokenCounter(model)
        talk, remembered = self.conversation(name), self.remembered(name)
        shown = history.view(talk, policy, limits, count=_count(counter), state=remembered.archive)
        messages, has_limit = shown.messages, policy in history.SUMMARISING
        at = len(talk.system)
        if not has_limit:
            messages = (*messages[:at], *_archive(remembered, "summary", counter, talk.language), *messages[at:])
        rows: list[Recalled] = []
        if query:
            gone = {turn.id for turn in shown.dropped}
            seen = {turn.id for turn in talk.turns if turn.id not in gone}
            left = limits.limit - counter.count_messages(messages) if has_limit else None
            rows, found = fitting(self._recalled(name, query, remembered, seen), k, left, counter)
            messages = (*messages[:at], *found, *messages[at:])
        return SessionView(
            name,
            policy,
            messages,
            counter.count_messages(messages),
            len(shown.dropped),
            shown.state.messages,
            tuple(one.document() for one in rows),
        )

    def recall(self, name: str, query: str, *, k: int = 5) -> tuple[Recalled, ...]:
        """The turns of a session nearest to a query, best first, archived ones too."""
        name = self.find(name)
        return tuple(islice(self._recalled(name, query, self.remembered(name), ()), k))

    def _recalled(self, name: str, query: str, remembered: Remembered, shown: Iterable[str]) -> Iterator[Recalled]:
        if not query.strip():
            raise UsageError("the query is empty", hint='say what to look for: ctx session recall NAME "…"')
        events = {event.id: event for event in remembered.state.events}
        return recall(
            self.folder, name, query, archive=remembered.bytes, events=events, shown=frozenset(shown),
            problems=self.notices,
        )  # fmt: skip

    def to_move(self, name: str, *, keep: int) -> tuple[Turn, ...]:
        """The turns that `compact` would move."""
        return _parted_turns([line.message for line in self._lines(name, []) if line.message], keep)[0]

    def compact(
        self,
        name: str,
        *,
        keep: int,
        room: int = ROOM,
        dry_run: bool = False,
        wording: Callable[[MemoryState], MemoryState] = lambda state: state,
    ) -> Compaction:
        """Move all but the last `keep` turns to the archive; a summary of at most `room` tokens stands for them.

        `wording` may put other words for what is remembered. A turn that still waits for the result of a call stays.
        Wherever this is broken off, no line is lost, and none counts twice.
        """
        name = self.find(name)
        with files.lock(self.folder, name, timeout=self._timeout):
            problems: list[str] = []
            lines = self._lines(name, problems)
            self.notices += problems
            turns, kept_turns = _parted_turns([line.message for line in lines if line.message], keep)
            before = self.remembered(name)
            state = wording(history.absorb(before.state, history.unsummarised(turns, before.state)))
            after = replace(before, state=state, archived=before.archived + len(turns), room=room)
            kept, moved = _parted(lines, kept_turns) if turns else (lines, [])
            if turns and not dry_run:
                self._move(name, before, after, kept, moved)
            elif state != before.state and not dry_run:
                session_memory.save(self.folder, name, replace(before, state=state))
        summaries = {event.id: event.summary for event in state.events}
        dropped = tuple(DroppedTurn(t.id, t.at, len(t.messages), summaries.get(t.id, "")) for t in turns)
        text = "".join(message.content for message in _archive(after, "summary", TokenCounter()))
        return Compaction(name, dry_run, dropped, sum(1 for line in kept if line.message), text)

    def _move(
        self, name: str, before: Remembered, after: Remembered, kept: Sequence[_Line], moved: Sequence[_Line]
    ) -> None:
        """The archive first, then the session, then the memory, which tells how much of the archive holds."""
        if not files.size(self.folder, name, ending=files.MEMORY):
            session_memory.save(self.folder, name, before)
        if files.size(self.folder, name, ending=files.ARCHIVE) > before.bytes:
            files.cut(self.folder, name, ending=files.ARCHIVE, end=before.bytes)
        files.append(self.folder, name, b"".join(line.data for line in moved), ending=files.ARCHIVE)
        files.replace_lines(self.folder, name, b"".join(line.data for line in kept))
        size = files.size(self.folder, name, ending=files.ARCHIVE)
        session_memory.save(self.folder, name, replace(after, bytes=size))

    def delete(self, name: str) -> tuple[str, Path]:
        """Move a session to the trash; its name must be whole."""
        names = files.names(self.folder)
        if name not in names:
            raise self._missing(name, names)
        with files.lock(self.folder, name, timeout=self._timeout):
            place = files.move_to_trash(self.folder, name, self.workspace.folder / "trash")
        for ending in (files.LOCK, files.TURN):
            (self.folder / (name + ending)).unlink(missing_ok=True)
        return name, place

    def remembered(self, name: str) -> Remembered:
        """What is remembered of old turns."""
        return session_memory.load(self.folder, name, self.notices)

    def archive_summary(self, name: str, language: Language) -> tuple[Message, ...]:
        """The summary of the turns in the archive, in three parts; () where there is no archive."""
        return _archive(self.remembered(name), "structured", TokenCounter(), language)

    def remember(self, name: str, state: MemoryState) -> None:
        """Keep what a chat remembers of old turns."""
        with files.lock(self.folder, name, timeout=self._timeout):
            before = self.remembered(name)
            if state.turns >= before.archived:  # else another process has compacted more meanwhile
                session_memory.save(self.folder, name, replace(before, state=state))


def _archive(
    remembered: Remembered, policy: Policy, counter: TokenCounter, language: Language | None = None
) -> tuple[Message, ...]:
    """What stands for the archive, in its own language or in the one given."""
    room = remembered.room
    return history.remembered(
        remembered.archive, policy, room=room, most=room, count=_count(counter), language=language
    )  # fmt: skip


def _parted_turns(messages: Sequence[Message], keep: int) -> tuple[tuple[Turn, ...], tuple[Turn, ...]]:
    """The turns that go to the archive, and those that stay."""
    turns = converse(messages).turns
    at = max(0, len(turns) - max(keep, int(_waits(messages))))
    return turns[:at], turns[at:]


def _waits(messages: Sequence[Message]) -> bool:
    """Whether the last thing said is a call that has not got all its results."""
    results: set[str] = set()
    for message in reversed(messages):
        if message.tool_calls:
            return any(call.id not in results for call in message.tool_calls)
        if message.role not in RESULTS:
            return False
        results.add(message.tool_call_id)
    return False


def _parted(lines: Sequence[_Line], kept_turns: Sequence[Turn]) -> tuple[list[_Line], list[_Line]]:
    """The lines that stay (instructions, and all from the first kept turn on) and those that go to the archive."""
    first = kept_turns[0].messages[0].id if kept_turns else ""
    cut = next((at for at, line in enumerate(lines) if line.message and line.message.id == first), len(lines))
    stays = [line for line in lines[:cut] if line.message and line.message.role in INSTRUCTING]
    goes = [line for line in lines[:cut] if not (line.message and line.message.role in INSTRUCTING)]
    return [*stays, *lines[cut:]], goes


def _count(counter: TokenCounter) -> history.CountMessages:
    return lambda messages: sum(map(counter.count_message, messages))


def _calls(line: bytes) -> Iterable[ToolCall]:
    message = message_of(line)
    return message.tool_calls if message else ()


def _encoded(message: Message) -> bytes:
    return json_bytes(message.fields(), compact=True) + b"\n"


def _with_own_ids(messages: Iterable[Message]) -> Sequence[Message]:
    """The messages with ids that are unique; those they came with are kept where they are."""
    now = datetime.now().astimezone()
    seen: set[str] = set()
    rows = []
    for one in messages:
        name = one.id if one.id and one.id not in seen else new_id(now)
        seen.add(name)
        rows.append(replace(one, id=name))
    return rows


def new_id(now: datetime) -> str:
    """A new id: the time in milliseconds, so that ids sort, and 40 random bits."""
    return f"{int(now.timestamp() * 1000):011x}{os.urandom(5).hex()}"


def checked_name(name: str) -> str:
    """A name that a session may bear, or UsageError."""
    if not is_kb_name(name) or name.endswith((".archive", ".memory")):
        raise UsageError(
            f"{name!r} cannot be the name of a session",
            code="bad_session_name",
            hint="use letters, digits, - and _, and begin with a letter or digit",
        )
    return name
