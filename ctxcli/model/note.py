"""Notes and what commands say about them, as values; `document` gives the JSON of `interface.md`.

Named tuples, not dataclasses, here and wherever `ctx note` comes by: making one of those costs five times as much.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

TYPES = ("task_state", "conclusion", "blocker", "action", "reference", "general")
"""The types of notes where the settings name no others."""

DEFAULT_TYPE = "general"


class NoteEntry(NamedTuple):
    """A note without its content.

    Times are ISO 8601 with zone; `path` is POSIX, relative to the workspace. `extra` holds the user's own keys.
    `problem` says what is wrong with the front matter (``notes/a.md:3: …``), else it is "".
    """

    id: str
    title: str
    type: str
    tags: tuple[str, ...]
    created_at: str
    updated_at: str
    path: str
    extra: Mapping[str, Any]
    problem: str = ""

    def fields(self) -> dict[str, Any]:
        """The fields as they stand in a list."""
        return {
            "id": self.id,
            "title": self.title,
            "type": self.type,
            "tags": list(self.tags),
            "created_at": self.created_at,
            "updated_at": self.updated_at,
            "path": self.path,
            "extra": dict(self.extra),
        }


class Note(NamedTuple):
    """A note with its content: the text below the front matter, lines parted by LF."""

    entry: NoteEntry
    content: str

    def document(self) -> dict[str, Any]:
        """``ctx/note/1``."""
        found = self.entry.fields()
        extra = found.pop("extra")
        return {"schema": "ctx/note/1", **found, "content": self.content, "extra": extra}


class NoteHit(NamedTuple):
    """A note that a search found. `score` is unitless, higher is better; matches stand between ``**``."""

    entry: NoteEntry
    score: float
    snippet: str

    def fields(self) -> dict[str, Any]:
        """The fields as they stand in a list."""
        return {**self.entry.fields(), "score": self.score, "snippet": self.snippet}


class NoteList(NamedTuple):
    """Notes in order; `total` counts those too that a limit left out."""

    total: int
    notes: tuple[NoteEntry, ...] | tuple[NoteHit, ...]

    def document(self) -> dict[str, Any]:
        """``ctx/notes/1``."""
        notes = [note.fields() for note in self.notes]
        return {"schema": "ctx/notes/1", "total": self.total, "shown": len(notes), "notes": notes}


class NoteSummary(NamedTuple):
    """All notes at a glance. `weekly` counts the notes created in each ISO week, oldest first, this one last.

    Of the open blockers and actions the latest are held; `open_counts` says how many there are of each.
    """

    total: int
    types: Mapping[str, int]
    tags: Mapping[str, int]
    recent: tuple[NoteEntry, ...]
    open_blockers: tuple[NoteEntry, ...]
    open_actions: tuple[NoteEntry, ...]
    open_counts: tuple[int, int]
    weekly: tuple[tuple[str, int], ...]

    def document(self) -> dict[str, Any]:
        """``ctx/note-summary/1``."""
        return {
            "schema": "ctx/note-summary/1",
            "total_notes": self.total,
            "type_distribution": dict(self.types),
            "tag_distribution": dict(self.tags),
            "recent_notes": [note.fields() for note in self.recent],
            "open_blockers": [note.fields() for note in self.open_blockers],
            "open_actions": [note.fields() for note in self.open_actions],
            "weekly": [{"week": week, "notes": count} for week, count in self.weekly],
        }
