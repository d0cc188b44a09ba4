"""Policies of conversation memory: which turns are shown, and what becomes of the others.

Pure: a conversation and a state go in, messages and the new state come out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ctxcli.model.message import Message
from ctxcli.packing.extract import Extract, extracts_of, summary_text, within
from ctxcli.packing.turns import Conversation, Turn
from ctxcli.text.question import language_of

Policy = Literal["full", "window", "weighted", "summary", "structured", "hierarchical"]
POLICIES: tuple[Policy, ...] = ("full", "window", "weighted", "summary", "structured", "hierarchical")
SUMMARISING = frozenset({"summary", "structured", "hierarchical"})
WEIGHTS = {"tool": 0.8, "function": 0.8, "user": 0.5, "assistant": 0.3}
"""What a message of a role weighs; instructions weigh nothing."""
CountMessages = Callable[[Sequence[Message]], int]

_MARKER = {"en": ("[{} earlier turn left out]", "[{} earlier turns left out]"), "zh": ("[略去 {} 轮]", "[略去 {} 轮]")}
_ARCHIVED = {
    "en": "[{} earlier turns are archived; recall finds them]",
    "zh": "[更早的 {} 轮已归档，可用 recall 查找]",
}


@dataclass(frozen=True, slots=True)
class Event:
    """A turn in the archive: the id of its last message, when it was, and its summary."""

    id: str
    at: str
    summary: str
    messages: int


@dataclass(frozen=True, slots=True)
class MemoryState:
    """What is remembered of the turns up to `upto` (the id of their last message); each was summarised once."""

    upto: str = ""
    turns: int = 0
    messages: int = 0
    extracts: tuple[Extract, ...] = ()
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is shown.

    window: the first `keep_head` and the last `keep` turns. weighted: turns of together at most `weight`. summary,
    structured, hierarchical: when more than `threshold` (0…1) of `limit` tokens are there, the oldest turns go until
    half of it is left, but the last `keep` stay; a summary has a fifth of `limit`.
    """

    keep: int = 6
    keep_head: int = 1
    weight: float = 10.0
    limit: int = 4_000
    threshold: float = 0.8


@dataclass(frozen=True, slots=True)
class View:
    """What is shown of a conversation, what is not, and what is remembered of that."""

    messages: tuple[Message, ...]
    dropped: tuple[Turn, ...]
    state: MemoryState


def view(
    talk: Conversation,
    policy: Policy,
    limits: Limits = Limits(),
    *,
    count: CountMessages,
    state: MemoryState = MemoryState(),
) -> View:
    """Show a conversation under a policy."""
    if policy == "full":
        return View(talk.messages, (), state)
    if policy == "window":
        return _window(talk, limits, state)
    if policy == "weighted":
        return _weighted(talk, limits, state)
    return _summarised(talk, policy, limits, count, state)


def _window(talk: Conversation, limits: Limits, state: MemoryState) -> View:
    turns = talk.turns
    if len(turns) <= limits.keep + limits.keep_head:
        return View(talk.messages, (), state)
    head, tail = turns[: limits.keep_head], turns[len(turns) - limits.keep :]
    dropped = turns[limits.keep_head : len(turns) - limits.keep]
    marker = _left_out(dropped)
    return View((*talk.system, *_messages(head), marker, *_messages(tail)), dropped, state)


def _weighted(talk: Conversation, limits: Limits, state: MemoryState) -> View:
    """The newest turns until the weight is spent."""
    left, first = limits.weight, len(talk.turns)
    while first:
        weight = sum(WEIGHTS.get(message.role, 0.0) for message in talk.turns[first - 1].messages)
        if weight > left + 1e-9:
            break
        left -= weight
        first -= 1
    dropped = talk.turns[:first]
    marker = (_left_out(dropped),) if dropped else ()
    return View((*talk.system, *marker, *_messages(talk.turns[first:])), dropped, state)


def _summarised(talk: Conversation, policy: Policy, limits: Limits, count: CountMessages, state: MemoryState) -> View:
    fresh = unsummarised(talk.turns, state)
    taken = _to_absorb(talk.system, fresh, policy, limits, count, state)
    room = limits.limit // 5
    new = absorb(state, fresh[:taken], room=room, count=lambda text: count([Message("system", text)]))
    remembered = remembered_message(new, policy)
    return View(
        (*talk.system, *remembered, *_messages(fresh[taken:])), talk.turns[: len(talk.turns) - len(fresh) + taken], new
    )


def unsummarised(turns: Sequence[Turn], state: MemoryState) -> tuple[Turn, ...]:
    """The turns after the last one that is remembered."""
    if state.upto:
        for at in range(len(turns) - 1, -1, -1):
            if turns[at].id == state.upto:
                return tuple(turns[at + 1 :])
    return tuple(turns)


def _to_absorb(
    system: Sequence[Message],
    fresh: Sequence[Turn],
    policy: Policy,
    limits: Limits,
    count: CountMessages,
    state: MemoryState,
) -> int:
    """How many of the oldest turns are to be summarised; counting ends where the limit is reached."""
    used = count([*system, *remembered_message(state, policy)])
    half = limits.limit // 2
    first_over_half = first_over = -1
    for at in range(len(fresh) - 1, -1, -1):
        used += count(fresh[at].messages)
        if used > half and first_over_half < 0:
            first_over_half = at
        if used > limits.threshold * limits.limit:
            first_over = at
            break
    if first_over < 0:
        return 0
    return max(0, min(first_over_half + 1, len(fresh) - max(1, limits.keep)))


def absorb(state: MemoryState, turns: Sequence[Turn], *, room: int, count: Callable[[str], int]) -> MemoryState:
    """Remember turns: the summary grows from the one before, and each turn becomes an event of the archive."""
    if not turns:
        return state
    extracts, events = list(state.extracts), list(state.events)
    for turn in turns:
        found = extracts_of(turn)
        extracts += found
        events.append(Event(turn.id, turn.at, " … ".join(one.text for one in found), len(turn.messages)))
    return MemoryState(
        upto=turns[-1].id,
        turns=state.turns + len(turns),
        messages=state.messages + sum(len(turn.messages) for turn in turns),
        extracts=within(extracts, room=room, count=count),
        events=tuple(events),
    )


def remembered_message(state: MemoryState, policy: Policy) -> tuple[Message, ...]:
    """The message that stands for what is not shown any more; () where nothing is remembered."""
    if not state.messages:
        return ()
    if policy == "hierarchical":
        language = language_of("".join(event.summary for event in state.events[-5:]))
        return (Message("system", _ARCHIVED[language].format(state.turns)),)
    return (
        Message("system", summary_text(state.extracts, messages=state.messages, structured=policy == "structured")),
    )


def _messages(turns: Sequence[Turn]) -> tuple[Message, ...]:
    return tuple(message for turn in turns for message in turn.messages)


def _left_out(turns: Sequence[Turn]) -> Message:
    one, more = _MARKER[language_of("".join(turn.text[:200] for turn in turns[-5:]))]
    return Message("system", (one if len(turns) == 1 else more).format(len(turns)))


def with_ids(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, those without an id numbered by their place."""
    return tuple(one if one.id else replace(one, id=str(at)) for at, one in enumerate(messages, 1))
