"""A message of a conversation, in the form of OpenAI's chat messages."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
INSTRUCTING = frozenset({"system", "developer"})
"""Roles that instruct: never cut, in no turn."""
RESULTS = frozenset({"tool", "function"})
_NOT_IN_NAMES = re.compile(r"[\s<|\\/>]+")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool; `arguments` is JSON as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message. `content` is its text ("" where there is none); `id` and `at` (ISO 8601) are "" outside of sessions.

    `extra` holds what else the message came with: what is no text in its content, and keys of others.
    """

    role: str
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""
    id: str = ""
    at: str = ""
    extra: Mapping[str, Any] | None = None

    def openai(self) -> dict[str, Any]:
        """The message as the API takes it; what names may not hold there becomes ``_``."""
        found: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.name:
            found["name"] = _NOT_IN_NAMES.sub("_", self.name)[:64]
        if self.tool_calls:
            found["content"] = self.content or None
            found["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.tool_calls
            ]
        if self.tool_call_id:
            found["tool_call_id"] = self.tool_call_id
        return found

    def fields(self) -> dict[str, Any]:
        """The message as it stands in a session."""
        found = {**self.openai(), **({"name": self.name} if self.name else {})}
        extra = dict(self.extra or {})
        if "content" in extra:
            found["content"] = extra.pop("content")
        return {"id": self.id, "at": self.at, **found, **extra}
