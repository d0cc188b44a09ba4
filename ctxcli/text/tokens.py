"""Tokens of language models counted: which encoding a model has, and what messages cost beyond their text."""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ctxcli.model.errors import UsageError
from ctxcli.text.bpe import ENCODINGS, EncodingName, encoding

if TYPE_CHECKING:
    from ctxcli.model.message import Message

_O200K = ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-oss", "chatgpt-", "o1", "o3", "o4", "omni-", "codex-")
_CL100K = ("gpt-4", "gpt-3.5", "gpt-35", "text-embedding-3", "text-embedding-ada-002")
DEFAULT: EncodingName = "o200k_base"
"""The encoding where no model is named."""
UNKNOWN: EncodingName = "cl100k_base"
"""The encoding for a model that is not known: it gives the higher count, above all for Chinese."""
PER_MESSAGE, PER_NAME, PRIMING, PER_CALL = 3, 1, 3, 3
"""What a message, a name in it, the beginning of the reply and a tool call cost beyond their texts (OpenAI)."""


def encoding_of(model: str | None) -> tuple[EncodingName, bool]:
    """The encoding of a model (or of that name), and whether the model is known to have it."""
    if not model:
        return DEFAULT, True
    name = model.strip().lower()
    for one in ENCODINGS:
        if name == one:
            return one, True
    bare = name.removeprefix("ft:").rpartition("/")[2]
    for prefixes, found in ((_O200K, ENCODINGS[0]), (_CL100K, ENCODINGS[1])):
        if any(_begins(bare, prefix) for prefix in prefixes):
            return found, True
    return UNKNOWN, False


def checked_model(model: str | None) -> str | None:
    """The name of a model as it was given, or UsageError where it is blank."""
    if model is not None and not model.strip():
        raise UsageError("the name of the model is empty", hint="name a model or an encoding, or leave --model out")
    return model


def _begins(name: str, prefix: str) -> bool:
    """Whether a name is `prefix`, or goes on after it with what is no letter or digit (``o1-mini``, not ``o1a``)."""
    rest = name[len(prefix) :]
    return name.startswith(prefix) and (not rest or prefix[-1] == "-" or not rest[0].isalnum())


class TokenCounter:
    """Counts tokens exactly and offline.

    `model` is the name of a model or encoding; `exact` says whether the model is known, else ``cl100k_base`` stands in.

    >>> TokenCounter().count("连接池默认大小是 10。")
    8
    >>> TokenCounter("gpt-4").count("连接池默认大小是 10。")
    9
    >>> TokenCounter("gpt-4o").count_messages([{"role": "user", "content": "hello"}])
    8
    """

    def __init__(self, model: str | None = None) -> None:
        self.model = model or None
        self.encoding, self.exact = encoding_of(model)

    def count(self, text: str) -> int:
        """The tokens of a text; special tokens in it are ordinary text."""
        return encoding(self.encoding).count(text)

    def count_messages(self, messages: "Iterable[Mapping[str, Any] | Message]") -> int:
        """The tokens of a request with these messages, with what frames them.

        Each message costs 3 tokens beyond its texts, a name 1, the beginning of the reply 3, a tool call 3. What is no
        text (images) is not counted.
        """
        return PRIMING + sum(self.count_message(one) for one in messages)

    def count_message(self, message: "Mapping[str, Any] | Message") -> int:
        """The tokens of one message, with what frames it."""
        fields = message if isinstance(message, Mapping) else message.openai()
        return PER_MESSAGE + sum(self._count_field(key, value) for key, value in fields.items())

    def _count_field(self, key: str, value: Any) -> int:
        if isinstance(value, str):
            return self.count(value) + (PER_NAME if key == "name" else 0)
        if not isinstance(value, list | tuple):
            return 0
        if key == "tool_calls":
            return sum(PER_CALL + self._count_call(call) for call in value)
        return sum(self.count(part["text"]) for part in value if isinstance(part.get("text"), str))

    def _count_call(self, call: Mapping[str, Any]) -> int:
        function = call.get("function") or {}
        return sum(self.count(str(text)) for text in (call.get("id", ""), *function.values()))

    def expect(self, characters: int) -> None:
        """Make ready for texts of so many characters in all: many are counted faster."""
        encoding(self.encoding).expect(characters)


def estimate(text: str) -> int:
    """About how many tokens: 0.8 for each Chinese, Japanese or Korean character, 0.3 for each other one."""
    wide = 0 if text.isascii() else sum(map(_is_wide, text))
    return math.ceil(0.8 * wide + 0.3 * (len(text) - wide))


_WIDE = (("\u2e80", "\ud7a3"), ("\uf900", "\ufaff"), ("\uff00", "\uffef"), ("\U00020000", "\U0003ffff"))


def _is_wide(char: str) -> bool:
    return any(first <= char <= last for first, last in _WIDE)
