"""A language model that replies as it is told to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctxcli.model.chat import Reply, ToolSpec, Usage
from ctxcli.model.errors import ServiceError
from ctxcli.model.message import Message, ToolCall


@dataclass
class FakeModel:
    """Replies in order: a text, a Reply, an error to raise, or a function of the messages."""

    replies: list[Any]
    name: str = "fake"
    asked: list[list[Message]] = field(default_factory=list)
    offered: list[list[str]] = field(default_factory=list)

    def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        on_text: Callable[[str], None] = lambda text: None,
        temperature: float | None = None,
    ) -> Reply:
        self.asked.append(list(messages))
        self.offered.append([tool.name for tool in tools])
        found = self.replies.pop(0) if self.replies else ServiceError("no more", code="llm_failed", hint="stop")
        if callable(found):
            found = found(messages)
        if isinstance(found, BaseException):
            on_text("half a sen")
            raise found
        said = found if isinstance(found, Reply) else Reply(found, usage=Usage(10, 2), model=self.name)
        on_text(said.text)
        return said


def calls(*named: tuple[str, str], text: str = "") -> Reply:
    """A reply that calls tools by name with arguments as text."""
    return Reply(
        text, tuple(ToolCall(f"c{at}", name, args) for at, (name, args) in enumerate(named)), usage=Usage(10, 2)
    )
