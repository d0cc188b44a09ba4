"""Sessions and what commands say about them, as values; `document` gives the JSON."""

from dataclasses import dataclass
from typing import Any

from ctxcli.model.message import Message


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """A session at a glance: its messages, those that `compact` has moved out, and lines that hold no message."""

    name: str
    messages: int
    archived: int
    problems: int
    bytes: int
    updated_at: str

    def fields(self) -> dict[str, Any]:
        """The fields as they stand in a list."""
        return {
            "name": self.name, "messages": self.messages, "archived": self.archived, "problems": self.problems,
            "bytes": self.bytes, "updated_at": self.updated_at,
        }  # fmt: skip

    def document(self) -> dict[str, Any]:
        """``ctx/session-entry/1``."""
        return {"schema": "ctx/session-entry/1", **self.fields()}


@dataclass(frozen=True, slots=True)
class SessionList:
    """All sessions, last changed first."""

    sessions: tuple[SessionEntry, ...]

    def document(self) -> dict[str, Any]:
        """``ctx/sessions/1``."""
        rows = [one.fields() for one in self.sessions]
        return {"schema": "ctx/sessions/1", "total": len(rows), "sessions": rows}


@dataclass(frozen=True, slots=True)
class Session:
    """The messages of a session, in order; `problems` names the lines that are no messages, and stay in the file."""

    name: str
    messages: tuple[Message, ...]
    problems: tuple[str, ...] = ()
    total: int = 0

    def document(self) -> dict[str, Any]:
        """``ctx/session/1``."""
        return {
            "schema": "ctx/session/1", "name": self.name, "total": self.total or len(self.messages),
            "shown": len(self.messages), "messages": [one.fields() for one in self.messages],
            "problems": list(self.problems),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class SessionView:
    """What a model is shown of a session; `left_out` counts turns, `summarised` messages that a summary stands for."""

    name: str
    policy: str
    messages: tuple[Message, ...]
    tokens: int
    left_out: int
    summarised: int
    recalled: tuple[dict[str, Any], ...] = ()

    def document(self) -> dict[str, Any]:
        """``ctx/session-context/1``."""
        return {
            "schema": "ctx/session-context/1", "name": self.name, "policy": self.policy, "tokens": self.tokens,
            "turns_left_out": self.left_out, "messages_summarised": self.summarised,
            "messages": [one.openai() for one in self.messages], "recalled": list(self.recalled),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class DroppedTurn:
    """A turn that `compact` moves to the archive, with what stands for it."""

    id: str
    at: str
    messages: int
    summary: str


@dataclass(frozen=True, slots=True)
class Compaction:
    """What `compact` did, or would do."""

    name: str
    dry_run: bool
    dropped: tuple[DroppedTurn, ...]
    kept_messages: int
    summary: str

    def document(self) -> dict[str, Any]:
        """``ctx/compaction/1``."""
        rows = [{"id": one.id, "at": one.at, "messages": one.messages, "summary": one.summary} for one in self.dropped]
        return {
            "schema": "ctx/compaction/1", "name": self.name, "dry_run": self.dry_run, "dropped": rows,
            "kept_messages": self.kept_messages, "summary": self.summary,
        }  # fmt: skip
