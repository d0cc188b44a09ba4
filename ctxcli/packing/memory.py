"""Conversation memories for programs: messages go in, what a model should be shown comes out.

>>> memory = SlidingWindow(keep=1, keep_head=0)
>>> for text in ("What is the pool size?", "And the timeout?"):
...     memory.add("user", text)
...     memory.add("assistant", "Ten.")
>>> [message["content"] for message in memory.messages()]
['[1 earlier turn left out]', 'And the timeout?', 'Ten.']
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ctxcli.model.message import Message
from ctxcli.packing.history import CountMessages, Limits, MemoryState, Policy, View, view
from ctxcli.packing.recall import Recalled, recall
from ctxcli.packing.turns import Conversation, converse
from ctxcli.parsing.messages import read_message
from ctxcli.text.tokens import TokenCounter


class _Memory:
    """Keeps messages and shows them under a policy. A turn is shown or left out whole."""

    policy: Policy = "full"

    def __init__(self, limits: Limits | None = None, *, model: str | None = None) -> None:
        self.limits = (limits or Limits()).checked()
        self.counter = TokenCounter(model)
        self.state = MemoryState()
        self._messages: list[Message] = []

    def add(self, role: str, content: str = "", **more: Any) -> None:
        """Add a message; `more` are further keys of OpenAI's messages, such as `tool_calls`."""
        self.add_message({"role": role, "content": content, **more})

    def add_message(self, message: Mapping[str, Any] | Message) -> None:
        """Add a message in OpenAI's form. Raises ParseError where it is none."""
        found = message if isinstance(message, Message) else read_message(dict(message))
        self._messages.append(found if found.id else replace(found, id=f"m{len(self._messages) + 1}"))

    def messages(self) -> list[dict[str, Any]]:
        """What the model is to be shown, in OpenAI's form."""
        return [message.openai() for message in self._view().messages]

    @property
    def tokens(self) -> int:
        """The tokens of a request with these messages."""
        return self.counter.count_messages(self.messages())

    def _view(self) -> View:
        shown = view(self._talk(), self.policy, self.limits, count=self._count, state=self.state)
        self.state = shown.state
        return shown

    def _talk(self) -> Conversation:
        return converse(self._messages)

    @property
    def _count(self) -> CountMessages:
        return lambda messages: sum(map(self.counter.count_message, messages))


class FullHistory(_Memory):
    """Shows everything."""


class SlidingWindow(_Memory):
    """Shows instructions, the first `keep_head` and the last `keep` turns, and says how many are left out."""

    policy: Policy = "window"

    def __init__(self, keep: int = 6, *, keep_head: int = 1, model: str | None = None) -> None:
        super().__init__(Limits(keep=keep, keep_head=keep_head), model=model)


class WeightedMemory(_Memory):
    """Shows the newest turns until `weight` is spent: tool 0.8, user 0.5, assistant 0.3; instructions weigh nothing."""

    policy: Policy = "weighted"

    def __init__(self, weight: float = 10.0, *, model: str | None = None) -> None:
        super().__init__(Limits(weight=weight), model=model)


class SummaryMemory(_Memory):
    """Over `threshold` of `limit` tokens the oldest turns become a summary, which grows; each is summarised once.

    The last `keep` turns stay as far as the limit allows, which is never exceeded: `messages` raises UsageError where
    it does not even hold the instructions. The summary is extractive, and says so.
    """

    policy: Policy = "summary"

    def __init__(self, limit: int = 4_000, *, threshold: float = 0.8, keep: int = 2, model: str | None = None) -> None:
        super().__init__(Limits(keep=keep, limit=limit, threshold=threshold), model=model)


class StructuredMemory(SummaryMemory):
    """As `SummaryMemory`; the summary has three parts: confirmed, ruled out, open questions, each with its source."""

    policy: Policy = "structured"


class HierarchicalMemory(SummaryMemory):
    """Keeps a main context of limited size; older turns go to an archive, where `recall` finds them by relevance."""

    policy: Policy = "hierarchical"

    def recall(self, query: str, *, k: int = 3) -> tuple[Recalled, ...]:
        """The archived turns nearest to `query`, best first."""
        self._view()
        events = {event.id: event for event in self.state.events}
        archive = [turn for turn in self._talk().turns if turn.id in events]
        return recall(query, archive, k=k, events=events)
