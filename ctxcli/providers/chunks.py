"""The chunks of a streamed chat completion put together to a reply."""

from collections.abc import Callable, Mapping
from typing import Any

from ctxcli.model.chat import Reply, Usage
from ctxcli.model.message import ToolCall

MOST_CHARACTERS = 1_000_000
"""A reply that is longer is an error."""


class Assembly:
    """A reply in the making. `on_text` gets each piece of its text."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._text: list[str] = []
        self._calls: list[dict[str, str]] = []
        self._by_index: dict[object, int] = {}
        self._refusal = ""
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
        return self._refusal or ("the content was filtered" if self.finish == "content_filter" else "")

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
        self._refusal += _text(delta.get("refusal"))
        text = _text(delta.get("content"))
        if text:
            self._grow(len(text))
            self._text.append(text)
            self._on_text(text)
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, Mapping):
                self._call(call)

    def _call(self, part: Mapping[str, Any]) -> None:
        """A tool call or a further piece of one; some services give no index, but an id with each new call."""
        name = part.get("index")
        if name is None:
            name = part.get("id") or (len(self._calls) - 1 if self._calls else 0)
        if name not in self._by_index:
            self._by_index[name] = len(self._calls)
            self._calls.append({"id": "", "name": "", "arguments": ""})
        call = self._calls[self._by_index[name]]
        call["id"] = call["id"] or _text(part.get("id"))
        function = part.get("function")
        if isinstance(function, Mapping):
            call["name"] += _text(function.get("name"))
            arguments = _text(function.get("arguments"))
            self._grow(len(arguments))
            call["arguments"] += arguments

    def _grow(self, characters: int) -> None:
        self._size += characters
        if self._size > MOST_CHARACTERS:
            raise ValueError("the reply does not end")

    def _count(self, usage: object) -> None:
        if isinstance(usage, Mapping):
            self._usage = Usage(_number(usage.get("prompt_tokens")), _number(usage.get("completion_tokens")))

    def reply(self, *, model: str) -> Reply:
        """What was said; calls without an id get one."""
        calls = tuple(
            ToolCall(call["id"] or f"call-{at}", call["name"], call["arguments"] or "{}")
            for at, call in enumerate(self._calls, 1)
        )
        return Reply("".join(self._text), calls, self.finish != "length", self._usage, self.model or model)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
