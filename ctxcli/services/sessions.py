"""Sessions: conversations kept, shown under a policy, recalled, compacted."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ctxcli.model.errors import NotFoundError, ParseError, UsageError
from ctxcli.model.message import INSTRUCTING, Message
from ctxcli.model.session import Compaction, DroppedTurn, Session, SessionEntry, SessionList, SessionView
from ctxcli.packing import history
from ctxcli.packing.extract import Extract
from ctxcli.packing.history import Event, Limits, MemoryState, Policy
from ctxcli.packing.memory import Recalled, recall
from ctxcli.packing.turns import Conversation, Turn, converse
from ctxcli.parsing.messages import read_line
from ctxcli.services.workspace import Workspace, is_kb_name
from ctxcli.storage import sessions as files
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
        return SessionEntry(
            name,
            files.count_lines(self.folder, name),
            files.count_lines(self.folder, name, ending=files.ARCHIVE),
            status.st_size,
            datetime.fromtimestamp(status.st_mtime).astimezone().isoformat(timespec="milliseconds"),
        )

    def entries(self) -> SessionList:
        """All sessions, last changed first."""
        found = [self.entry(name) for name in files.names(self.folder)]
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
        if message.role == "tool":
            self._check_call(name, message)
        return self._append(name, [message])[0]

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

    def _lines(self, name: str, problems: list[str], ending: str = files.ENDING) -> Sequence[_Line]:
        found = []
        for number, data in files.lines(self.folder, name, ending=ending):
            try:
                message = read_line(data)
            except ParseError as error:
                problems.append(f"{name}{ending}:{number}: {error.message}")
                found.append(_Line(data, None))
            else:
                found.append(_Line(data, message if message.id else replace(message, id=f"line-{number}")))
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
        talk = converse(line.message for line in self._lines(name, problems) if line.message)
        self.notices += [*problems, *talk.problems]
        return talk

    def view(
        self, name: str, policy: Policy, limits: Limits, *, model: str | None = None, query: str = "", k: int = 3
    ) -> SessionView:
        """What a model is to be shown. Old turns that a summary stands for are summarised once, and remembered."""
        name, counter = self.find(name), TokenCounter(model)
        talk, state = self.conversation(name), self.state(name)
        shown = history.view(talk, policy, limits, count=_count(counter), state=state)
        if shown.state != state:
            self.remember(name, shown.state)
        messages = shown.messages
        if policy not in history.SUMMARISING and self._archived(name):
            at = len(talk.system)
            messages = (*messages[:at], *history.remembered_message(state, "summary"), *messages[at:])
        recalled = self.recall(name, query, k=k) if query else ()
        rows = tuple(one.document() for one in recalled if one.archived)
        if rows:
            at = len(talk.system)
            messages = (*messages[:at], *map(_recalled_message, rows), *messages[at:])
        summarised = shown.state.messages if policy in history.SUMMARISING or self._archived(name) else 0
        tokens = counter.count_messages(messages)
        return SessionView(name, policy, messages, tokens, len(shown.dropped), summarised, rows)

    def _archived(self, name: str) -> bool:
        return (self.folder / (name + files.ARCHIVE)).exists()

    def recall(self, name: str, query: str, *, k: int = 5) -> tuple[Recalled, ...]:
        """The turns of a session nearest to a query, best first, archived ones too."""
        if not query.strip():
            raise UsageError("the query is empty", hint='say what to look for: ctx session recall NAME "…"')
        name = self.find(name)
        problems: list[str] = []
        archive = self._lines(name, problems, files.ARCHIVE)
        rows = {line.message.id: line.message for line in [*archive, *self._lines(name, problems)] if line.message}
        self.notices += problems
        state = self.state(name)
        turns = converse(rows.values()).turns
        gone = {event.id for event in state.events}
        archived = sum(1 for turn in turns if turn.id in gone)
        return recall(query, turns, k=k, events=state.events, archived=archived)

    def compact(self, name: str, *, keep: int, room: int = 800, dry_run: bool = False) -> Compaction:
        """Move all but the last `keep` turns to the archive; a summary of at most `room` tokens stands for them."""
        name = self.find(name)
        with files.lock(self.folder, name, timeout=self._timeout):
            problems: list[str] = []
            lines = self._lines(name, problems)
            self.notices += problems
            talk = converse(line.message for line in lines if line.message)
            turns = talk.turns[: max(0, len(talk.turns) - keep)]
            state = self.state(name)
            new = history.absorb(
                state, history.unsummarised(turns, state), room=room, count=TokenCounter().count
            )  # fmt: skip
            kept, moved = _parted(lines, talk.turns[len(turns) :]) if turns else (lines, [])
            if turns and not dry_run:
                files.append(self.folder, name, b"".join(line.data for line in moved), ending=files.ARCHIVE)
                files.write_memory(self.folder, name, _state_document(new))
                files.replace_lines(self.folder, name, b"".join(line.data for line in kept))
        summaries = {event.id: event.summary for event in new.events}
        dropped = tuple(DroppedTurn(t.id, t.at, len(t.messages), summaries.get(t.id, "")) for t in turns)
        text = "".join(message.content for message in history.remembered_message(new, "summary"))
        return Compaction(name, dry_run, dropped, sum(1 for line in kept if line.message), text)

    def delete(self, name: str) -> tuple[str, Path]:
        """Move a session to the trash; its name must be whole."""
        names = files.names(self.folder)
        if name not in names:
            raise self._missing(name, names)
        with files.lock(self.folder, name, timeout=self._timeout):
            place = files.move_to_trash(self.folder, name, self.workspace.folder / "trash")
        (self.folder / f"{name}.lock").unlink(missing_ok=True)
        return name, place

    def state(self, name: str) -> MemoryState:
        """What is remembered of old turns."""
        found, problem = files.read_memory(self.folder, name)
        if problem:
            self.notices.append(f"{problem}: old turns are summarised anew")
        try:
            return MemoryState(
                upto=str(found.get("upto", "")),
                turns=int(found.get("turns", 0)),
                messages=int(found.get("messages", 0)),
                extracts=tuple(Extract(**row) for row in found.get("extracts", ())),
                events=tuple(Event(**row) for row in found.get("events", ())),
            )
        except (TypeError, ValueError) as error:
            self.notices.append(f"{name}{files.MEMORY} cannot be read ({error}): old turns are summarised anew")
            return MemoryState()

    def remember(self, name: str, state: MemoryState) -> None:
        """Keep what is remembered of old turns."""
        with files.lock(self.folder, name, timeout=self._timeout):
            files.write_memory(self.folder, name, _state_document(state))


def _state_document(state: MemoryState) -> dict[str, Any]:
    return asdict(state)


def _parted(lines: Sequence[_Line], kept_turns: Sequence[Turn]) -> tuple[list[_Line], list[_Line]]:
    """The lines that stay (instructions, and all from the first kept turn on) and those that go to the archive."""
    first = kept_turns[0].messages[0].id if kept_turns else ""
    cut = next((at for at, line in enumerate(lines) if line.message and line.message.id == first), len(lines))
    stays = [line for line in lines[:cut] if line.message and line.message.role in INSTRUCTING]
    goes = [line for line in lines[:cut] if not (line.message and line.message.role in INSTRUCTING)]
    return [*stays, *lines[cut:]], goes


def _count(counter: TokenCounter) -> history.CountMessages:
    return lambda messages: sum(map(counter.count_message, messages))


def _recalled_message(row: dict[str, Any]) -> Message:
    return Message("system", f"[recalled, {row['at']}]\n{row['text']}")


def _calls(line: bytes) -> Iterable[Any]:
    try:
        return read_line(line).tool_calls
    except ParseError:
        return ()


def _encoded(message: Message) -> bytes:
    import json

    return json.dumps(message.fields(), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


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
