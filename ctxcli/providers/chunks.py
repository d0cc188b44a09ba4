"""The chunks of a streamed chat completion put together to a reply."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxcli.model.chat import Reply, Usage
from ctxcli.model.message import ToolCall
from ctxcli.text.bpe import whole_characters

MOST_CHARACTERS = 1_000_000
"""A reply that is longer is an error."""
MOST_CALLS = 128
"""A reply that calls more tools at once is an error."""


@dataclass(slots=True)
class _Call:
    """A tool call in the making."""

    id: str = ""
    name: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)


class Assembly:
    """A reply in the making. `on_text` gets each piece of its text."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._text: list[str] = []
        self._calls: dict[int | str, _Call] = {}
        self._refusal: list[str] = []
        self._usage: Usage | None = None
        self._size = 0
        self.model = ""
        self.finish = ""

    @property
    def is_empty(self) -> bool:
        """Whether the model has not begun to say anything."""
        return not (self._text or self._calls or self._refusal)

    @property
    def refusal(self) -> str:
        """What the model says where it refuses, else ""."""
        return "".join(self._refusal) or ("the content was filtered" if self.finish == "content_filter" else "")

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Take one chunk, or a whole completion (`message` in place of `delta`)."""
        self.model = _text(chunk.get("model")) or self.model
        self._count(chunk.get("usage"))
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
            return
        choice = choices[0]
        self.finish = _text(choice.get("finish_reason")) or self.finish
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, Mapping):
            self._take(delta)

    def _take(self, delta: Mapping[str, Any]) -> None:
        if refusal := self._grown(delta.get("refusal")):
            self._refusal.append(refusal)
        if text := self._grown(delta.get("content")):
            self._text.append(text)
            self._on_text(text)
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, Mapping):
                self._call(call)

    def _call(self, part: Mapping[str, Any]) -> None:
        """A tool call or a further piece of one; some services give no index, but an id with each new call."""
        own, index = _text(part.get("id")), part.get("index")
        key = index if isinstance(index, int) else own or next(reversed(self._calls), 0)
        call = self._calls.setdefault(key, _Call())
        if len(self._calls) > MOST_CALLS:
            raise ValueError(f"more than {MOST_CALLS} calls of tools at once")
        call.id = call.id or own
        function = part.get("function")
        if isinstance(function, Mapping):
            call.name.append(self._grown(function.get("name")))
            call.arguments.append(self._grown(function.get("arguments")))

    def _grown(self, value: object) -> str:
        """A piece of text, "" where it is none. ValueError where all of them are too long."""
        text = _text(value)
        self._size += len(text)
        if self._size > MOST_CHARACTERS:
            raise ValueError("the reply does not end")
        return text

    def _count(self, usage: object) -> None:
        if isinstance(usage, Mapping):
            self._usage = Usage(_number(usage.get("prompt_tokens")), _number(usage.get("completion_tokens")))

    def reply(self, *, model: str) -> Reply:
        """What was said, in whole characters; calls without an id of their own get one."""
        calls: dict[str, ToolCall] = {}
        for at, call in enumerate(self._calls.values(), 1):
            own = call.id if call.id and call.id not in calls else f"call-{at}"
            name, arguments = (whole_characters("".join(parts)) for parts in (call.name, call.arguments))
            calls[own] = ToolCall(own, name, arguments or "{}")
        text = whole_characters("".join(self._text))
        return Reply(text, tuple(calls.values()), self.finish != "length", self._usage, self.model or model)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
