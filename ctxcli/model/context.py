"""Contexts for language models: what goes in, and what came out and why; the values behind `ctx/context/1`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ctxcli.model.answer import Passage

if TYPE_CHECKING:
    from ctxcli.model.message import Message

Format = Literal["text", "messages", "json"]
PacketState = Literal["kept", "compressed", "dropped"]
Section = Literal["role", "task", "state", "evidence", "context", "output"]

SECTION_OF: Mapping[str, Section] = {
    "system": "role", "instructions": "role", "system_instructions": "role", "policy": "role",
    "task": "task",
    "fact": "state", "state": "state", "task_state": "state",
    "evidence": "evidence", "knowledge": "evidence", "knowledge_base": "evidence", "rag": "evidence", "kb": "evidence",
    "output": "output",
}  # fmt: skip
"""Where packets of a type go; all others go to the context."""


class ContextPacket(NamedTuple):
    """Something that a context may hold. Quicker to load than a dataclass.

    `relevance` lies in 0…1; None has it worked out from the query. `timestamp` bears a zone; None counts as now.
    `type` says where it goes: system, task, fact, evidence, output; anything else goes to the context.
    """

    content: str
    type: str = "context"
    timestamp: datetime | None = None
    relevance: float | None = None
    source: str = ""
    passage: Passage | None = None

    @property
    def section(self) -> Section:
        """The section it belongs to."""
        return SECTION_OF.get(self.type, "context")


class PacketReport(NamedTuple):
    """What became of a packet. `tokens` are those of its content as shown, or as it came where it was dropped."""

    type: str
    source: str
    tokens: int
    relevance: float | None
    recency: float | None
    score: float | None
    state: PacketState
    why: str

    def document(self) -> dict[str, Any]:
        """The packet in `ctx/context/1`."""
        rounded = {
            name: None if value is None else round(value, 4)
            for name, value in (("relevance", self.relevance), ("recency", self.recency), ("score", self.score))
        }
        return {
            "type": self.type, "source": self.source, "tokens": self.tokens, **rounded, "state": self.state,
            "why": self.why,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Context:
    """A context. `tokens` is exact, and never above `budget`: of `text`, or of `messages` where that is the format."""

    query: str
    text: str
    tokens: int
    budget: int
    encoding: str
    citations: tuple[Passage | ContextPacket, ...]
    format: Format
    rendered: "Callable[[], tuple[Message, ...]]" = field(compare=False, repr=False)
    reports: Callable[[], tuple[PacketReport, ...]] = field(compare=False, repr=False)

    @property
    def messages(self) -> "tuple[Message, ...]":
        """The context as messages."""
        return self.rendered()

    @property
    def packets(self) -> tuple[PacketReport, ...]:
        """What became of every packet; worked out when asked, for it takes counting what was dropped."""
        return self.reports()

    def __str__(self) -> str:
        return self.text

    def openai(self) -> list[dict[str, Any]]:
        """The messages as the API takes them."""
        return [message.openai() for message in self.messages]

    def document(self) -> dict[str, Any]:
        """``ctx/context/1``, with `messages` where that is the format."""
        messages = {"messages": self.openai()} if self.format == "messages" else {}
        return {
            "schema": "ctx/context/1",
            "query": self.query,
            "text": self.text,
            "tokens": self.tokens,
            "budget": self.budget,
            "encoding": self.encoding,
            "packets": [packet.document() for packet in self.packets],
            "citations": [_citation(number, one) for number, one in enumerate(self.citations, 1)],
            **messages,
        }


def _citation(number: int, cited: Passage | ContextPacket) -> dict[str, Any]:
    if isinstance(cited, ContextPacket):
        return {"n": number, "source": cited.source, "quote": cited.content}
    from ctxcli.model.documents import citation_document

    return citation_document(number, cited)
