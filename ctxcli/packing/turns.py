"""Conversations as turns: what is kept or dropped whole."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ctxcli.model.message import INSTRUCTING, RESULTS, Message
from ctxcli.text.bpe import whole_characters
from ctxcli.text.question import Language, language_of

_LABELS = {
    "en": {"user": "User", "assistant": "Assistant", "tool": "Tool", "function": "Tool", "call": "calls"},
    "zh": {"user": "用户", "assistant": "助手", "tool": "工具", "function": "工具", "call": "调用"},
}
_LEFT_OUT: Mapping[Language, tuple[str, str]] = {
    "en": ("[{} earlier turn left out]", "[{} earlier turns left out]"),
    "zh": ("[略去此前 {} 轮]", "[略去此前 {} 轮]"),
}


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user said and all that followed, with tool calls and their results."""

    messages: tuple[Message, ...]

    @property
    def id(self) -> str:
        """The id of its last message."""
        return self.messages[-1].id

    @property
    def at(self) -> str:
        """When it ended, "" where nobody knows."""
        return self.messages[-1].at

    @property
    def text(self) -> str:
        """All texts of the turn."""
        return "\n".join(filter(None, (message.content for message in self.messages)))

    def shown(self, language: str) -> str:
        """The turn as text, a speaker a line."""
        words = _LABELS[language]
        lines = []
        for message in self.messages:
            label = words.get(message.role, message.role)
            if message.content or not message.tool_calls:
                lines.append(f"{label}: {message.content}")
            lines += [f"{label} {words['call']} {call.name}({call.arguments})" for call in message.tool_calls]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation in order. `system` stands first whatever its place was; `problems` says what was left out."""

    system: tuple[Message, ...] = ()
    turns: tuple[Turn, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def language(self) -> Language | None:
        """The language of the newest turns, None where there are none."""
        return None if not self.turns else language_of("".join(turn.text[:200] for turn in self.turns[-5:]))

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, instructions first."""
        return (*self.system, *(message for turn in self.turns for message in turn.messages))


def left_out(turns: int, language: Language) -> str:
    """The mark that says how many turns are not shown."""
    one, more = _LEFT_OUT[language]
    return (one if turns == 1 else more).format(turns)


def with_whole_characters(message: Message) -> Message:
    """A message without halves of characters (unpaired surrogates), which no API takes."""
    content = whole_characters(message.content)
    calls = tuple(replace(call, arguments=whole_characters(call.arguments)) for call in message.tool_calls)
    return (
        message
        if (content, calls) == (message.content, message.tool_calls)
        else replace(message, content=content, tool_calls=calls)
    )


def converse(messages: Iterable[Message]) -> Conversation:
    """Part messages into turns. A result without its call, and a call without its result, are left out and told.

    The same instructions twice count once.
    """
    system: dict[str, Message] = {}
    groups: list[list[Message]] = []
    for message in messages:
        if message.role in INSTRUCTING:
            system.setdefault(message.content, message)
        elif message.role == "user" or not groups:
            groups.append([message])
        else:
            groups[-1].append(message)
    problems: list[str] = []
    whole = (Turn(tuple(kept)) for group in groups if (kept := _answered(group, problems)))
    return Conversation(tuple(system.values()), tuple(whole), tuple(problems))


def _answered(group: Sequence[Message], problems: list[str]) -> list[Message]:
    """The messages of a turn whose calls have results right behind them, and the results whose calls are there."""
    kept: list[Message] = []
    at = 0
    while at < len(group):
        message = group[at]
        at += 1
        if message.role in RESULTS and not (message.role == "function" and message.name):
            problems.append(f"the result of {message.tool_call_id or 'a tool'} has no call{_place(message)}")
        elif message.tool_calls:
            results = []
            while at < len(group) and group[at].role in RESULTS:
                results.append(group[at])
                at += 1
            kept += _with_results(message, results, problems)
        else:
            kept.append(message)
    return kept


def _with_results(call: Message, results: Sequence[Message], problems: list[str]) -> list[Message]:
    by_id: dict[str, Message] = {}
    for result in results:
        by_id.setdefault(result.tool_call_id, result)
    known = {one.id for one in call.tool_calls}
    problems += [f"the result of {result.tool_call_id} has no call{_place(result)}" for result in results
                 if result.tool_call_id not in known]  # fmt: skip
    done = tuple(one for one in call.tool_calls if one.id in by_id)
    problems += [f"the call {one.id} of {one.name} has no result{_place(call)}" for one in call.tool_calls
                 if one.id not in by_id]  # fmt: skip
    if not done and not call.content:
        return []
    return [replace(call, tool_calls=done), *(by_id[one.id] for one in done)]


def _place(message: Message) -> str:
    return f" (message {message.id})" if message.id else ""
