"""What a language model is asked with and what it replies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ctxcli.model.message import Message, ToolCall


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the service counted; of several requests their sum."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens
        )  # fmt: skip

    def document(self) -> dict[str, int]:
        """The counts as they stand in documents."""
        total = self.prompt_tokens + self.completion_tokens
        return {
            "prompt_tokens": self.prompt_tokens, "completion_tokens": self.completion_tokens, "total_tokens": total,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said. `whole` is false where it reached its limit of tokens; `usage` is None if nobody counted."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    whole: bool = True
    usage: Usage | None = None
    model: str = ""

    @property
    def message(self) -> Message:
        """The reply as a message of the conversation."""
        return Message("assistant", self.text, self.tool_calls)


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that a model has called; `arguments` as it wrote them."""

    name: str
    arguments: str
    failed: bool


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """What became of a message of the user: the answer, the tools on the way, the rounds of them, the tokens.

    `unbacked` are the citations, files and quotes in the answer that stand in nothing the model was shown.
    """

    answer: str
    tools: tuple[ToolUse, ...]
    rounds: int
    usage: Usage
    model: str
    whole: bool = True
    unbacked: tuple[str, ...] = ()

    def document(self, *, session: str | None, question: str) -> dict[str, Any]:
        """``ctx/chat/1``."""
        tools = [{"name": one.name, "arguments": one.arguments, "failed": one.failed} for one in self.tools]
        return {
            "schema": "ctx/chat/1", "session": session, "message": question, "answer": self.answer, "tools": tools,
            "rounds": self.rounds, "model": self.model, "usage": self.usage.document(), "whole": self.whole,
            "unbacked": list(self.unbacked),
        }  # fmt: skip
