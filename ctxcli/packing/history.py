"""Policies of conversation memory: which turns are shown, and what becomes of the others.

Pure: a conversation and a state go in, messages and the new state come out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ctxcli.model.errors import UsageError
from ctxcli.model.message import Message
from ctxcli.packing.extract import Extract, best, extracts_of, summary_text, within
from ctxcli.packing.turns import Conversation, Turn, left_out
from ctxcli.text.question import Language, language_of
from ctxcli.text.tokens import PRIMING

Policy = Literal["full", "window", "weighted", "summary", "structured", "hierarchical"]
POLICIES: tuple[Policy, ...] = ("full", "window", "weighted", "summary", "structured", "hierarchical")
SUMMARISING = frozenset({"summary", "structured", "hierarchical"})
"""The policies that keep to a limit of tokens."""
WEIGHTS = {"tool": 0.8, "function": 0.8, "user": 0.5, "assistant": 0.3}
"""What a message of a role weighs; instructions weigh nothing."""
CountMessages = Callable[[Sequence[Message]], int]
"""Counts messages with what frames each, without what a request costs once."""

_FOLDED = 1_000
"""Sentences at most that stand for all turns remembered together."""
_ARCHIVED: Mapping[Language, tuple[str, str]] = {
    "en": ("[{} earlier turn is archived; recall finds it]", "[{} earlier turns are archived; recall finds them]"),
    "zh": ("[更早的 {} 轮已归档，可用 recall 查找]", "[更早的 {} 轮已归档，可用 recall 查找]"),
}


@dataclass(frozen=True, slots=True)
class Event:
    """A turn that is remembered: the id of its last message, when it was, and the sentences that carry most.

    It depends on the turn alone, so that summaries of any size are made from the same events.
    """

    id: str
    at: str
    messages: int
    extracts: tuple[Extract, ...] = ()

    @property
    def summary(self) -> str:
        """The sentences in one line."""
        return " … ".join(one.text for one in self.extracts)


@dataclass(frozen=True, slots=True)
class MemoryState:
    """What is remembered of the oldest turns: an event each, in order.

    Before them stand `folded_turns` (with `folded_messages`) that are remembered together, by the best sentences of
    all, `folded`. `worded` is a summary by a model of the first `worded_turns`.
    """

    events: tuple[Event, ...] = ()
    worded: tuple[Extract, ...] = ()
    worded_turns: int = 0
    folded: tuple[Extract, ...] = ()
    folded_turns: int = 0
    folded_messages: int = 0

    @property
    def turns(self) -> int:
        """The turns that are remembered."""
        return self.folded_turns + len(self.events)

    @property
    def messages(self) -> int:
        """The messages of these turns."""
        return self.folded_messages + sum(event.messages for event in self.events)

    @property
    def language(self) -> Language:
        """The language of the newest turns that are remembered."""
        newest = [*self.folded[-5:], *_extracts(self.events[-5:])]
        return language_of("".join(one.text for one in newest[-5:]))

    def first(self, turns: int) -> "MemoryState":
        """What is remembered of the first so many turns, at least those that are folded."""
        return replace(self, events=self.events[: max(0, turns - self.folded_turns)])

    def fold(self, turns: int) -> "MemoryState":
        """The same with the first so many turns remembered together, which takes less room."""
        if self.worded and self.folded_turns <= self.worded_turns < turns:
            turns = self.worded_turns  # what has come after the summary of a model must be told apart
        count = max(0, turns - self.folded_turns)
        gone, kept = self.events[:count], self.events[count:]
        return replace(
            self,
            events=kept,
            folded=best((*self.folded, *_extracts(gone)), _FOLDED),
            folded_turns=self.folded_turns + len(gone),
            folded_messages=self.folded_messages + sum(event.messages for event in gone),
        )

    def extracts(self, *, room: int, size: Callable[[Extract], int]) -> tuple[Extract, ...]:
        """The sentences that stand for all turns in about `room` tokens; a model's where it has seen no more."""
        if not self.worded or not self.folded_turns <= self.worded_turns <= self.turns:
            return within((*self.folded, *_extracts(self.events)), room=room, size=size)
        newer = _extracts(self.events[self.worded_turns - self.folded_turns :])
        old = within(self.worded, room=room // 2 if newer else room, size=size)
        known = {one.text for one in old}
        left = room - sum(map(size, old))
        return (*old, *within([one for one in newer if one.text not in known], room=left, size=size))


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is shown.

    window: the first `keep_head` and the last `keep` turns. weighted: turns of together at most `weight`. summary,
    structured, hierarchical: a request of never more than `limit` tokens. Over `threshold` (0…1) of that the oldest
    turns go until half of it is left, but the last `keep` stay as far as the limit allows; a summary has a fifth of it.
    """

    keep: int = 6
    keep_head: int = 1
    weight: float = 10.0
    limit: int = 4_000
    threshold: float = 0.8

    def checked(self) -> "Limits":
        """The limits, or UsageError."""
        for name, least, most in (("keep", 0, None), ("keep_head", 0, None), ("weight", 0, None), ("limit", 1, None),
                                  ("threshold", 0, 1)):  # fmt: skip
            value = getattr(self, name)
            if not value >= least or (most is not None and value > most):
                upper = f" and at most {most}" if most is not None else ""
                raise UsageError(f"{name} must be at least {least}{upper}, not {value}", code="bad_limit")
        return self


@dataclass(frozen=True, slots=True)
class View:
    """What is shown of a conversation, what is not, and what is remembered of that."""

    messages: tuple[Message, ...]
    dropped: tuple[Turn, ...]
    state: MemoryState


Reword = Callable[[MemoryState, Sequence[Turn]], MemoryState]
"""Words anew what is remembered; is given the turns that have just been added to it."""


def view(
    talk: Conversation,
    policy: Policy,
    limits: Limits = Limits(),
    *,
    count: CountMessages,
    state: MemoryState = MemoryState(),
    reword: Reword | None = None,
) -> View:
    """Show a conversation under a policy. Raises UsageError where its limit holds neither instructions nor a mark."""
    if policy == "full":
        return View(talk.messages, (), state)
    if policy == "window":
        return _window(talk, limits, state)
    if policy == "weighted":
        return _weighted(talk, limits, state)
    return _summarised(talk, policy, limits, count, state, reword)


def _window(talk: Conversation, limits: Limits, state: MemoryState) -> View:
    turns = talk.turns
    if len(turns) <= limits.keep + limits.keep_head:
        return View(talk.messages, (), state)
    head, tail = turns[: limits.keep_head], turns[len(turns) - limits.keep :]
    dropped = turns[limits.keep_head : len(turns) - limits.keep]
    return View((*talk.system, *_messages(head), _left_out(dropped, talk), *_messages(tail)), dropped, state)


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
    marker = (_left_out(dropped, talk),) if dropped else ()
    return View((*talk.system, *marker, *_messages(talk.turns[first:])), dropped, state)


def _summarised(
    talk: Conversation, policy: Policy, limits: Limits, count: CountMessages, state: MemoryState, reword: Reword | None
) -> View:
    """As many of the newest turns as the limit allows, behind what stands for the others."""
    fresh = unsummarised(talk.turns, state)
    base = PRIMING + count(talk.system)
    if base > limits.limit:
        raise _too_small(limits.limit, "the instructions and what frames them", base)
    sizes = _sizes(fresh, room=limits.limit - base, count=count)
    wanted = _turns_shown(fresh, sizes, policy, limits, count, state, base=base)
    enough = absorb(state, fresh[: len(fresh) - wanted])

    def remembering(shown: int) -> MemoryState:
        more = fresh[len(fresh) - wanted : len(fresh) - shown]
        return absorb(enough, more) if shown <= wanted else enough.first(enough.turns + wanted - shown)

    def note(new: MemoryState, shown: int) -> tuple[Message, ...]:
        left = limits.limit - base - sizes[shown]
        room = min(limits.limit // 5, left)
        return remembered(new, policy, room=room, most=left, count=count, language=talk.language)

    for shown in (*range(wanted, -1, -1), *range(wanted + 1, len(sizes))):
        new = remembering(shown)
        if not new.turns or note(new, shown):
            break
    else:
        mark = _mark(remembering(0).turns, talk.language or "en")
        raise _too_small(limits.limit, "a mark for what is left out", base + count([mark]))
    if reword and new.turns > state.turns:
        new = reword(new, fresh[: len(fresh) - shown])
    dropped = talk.turns[: len(talk.turns) - shown]
    messages = (*talk.system, *note(new, shown), *_messages(fresh[len(fresh) - shown :]))
    return View(messages, dropped, new)


def _too_small(limit: int, what: str, needed: int) -> UsageError:
    return UsageError(
        f"a limit of {limit:,} tokens does not hold {what}",
        code="over_budget",
        hint=f"allow at least {needed:,} tokens",
    )


def unsummarised(turns: Sequence[Turn], state: MemoryState) -> tuple[Turn, ...]:
    """The turns after the last one that is remembered."""
    known = {event.id for event in state.events}
    first = next((at for at in range(len(turns), 0, -1) if turns[at - 1].id in known), 0) if known else 0
    return tuple(turns[first:])


def _sizes(turns: Sequence[Turn], *, room: int, count: CountMessages) -> list[int]:
    """The tokens of the newest 0, 1, 2 … turns, as long as they fit into `room`."""
    sizes = [0]
    for turn in reversed(turns):
        size = sizes[-1] + count(turn.messages)
        if size > room:
            break
        sizes.append(size)
    return sizes


def _turns_shown(
    fresh: Sequence[Turn],
    sizes: Sequence[int],
    policy: Policy,
    limits: Limits,
    count: CountMessages,
    state: MemoryState,
    *,
    base: int,
) -> int:
    """How many of the newest turns are shown: all below the threshold, else what half of the limit holds."""
    before = count(remembered(state, policy, room=limits.limit // 5, most=limits.limit, count=count))
    if len(sizes) > len(fresh) and base + before + sizes[-1] <= limits.threshold * limits.limit:
        return len(fresh)
    half = max((n for n, size in enumerate(sizes) if base + before + size <= limits.limit // 2), default=0)
    return min(max(half, limits.keep), len(fresh), len(sizes) - 1)


def absorb(state: MemoryState, turns: Sequence[Turn]) -> MemoryState:
    """Remember turns, an event each."""
    if not turns:
        return state
    return replace(state, events=(*state.events, *map(event_of, turns)))


def event_of(turn: Turn) -> Event:
    """A turn as it is remembered."""
    return Event(turn.id, turn.at, len(turn.messages), tuple(extracts_of(turn)))


def remembered(
    state: MemoryState,
    policy: Policy,
    *,
    room: int,
    most: int,
    count: CountMessages,
    language: Language | None = None,
) -> tuple[Message, ...]:
    """The message that stands for what is not shown any more; () where nothing is remembered or nothing fits.

    A summary has at most `room` tokens. Where it would be empty, a mark of at most `most` tokens stands for it. Its own
    words are in `language`, else in that of what is remembered.
    """
    if not state.turns:
        return ()
    turns, language = state.turns, language or state.language
    mark = _mark(turns, language)
    if policy == "hierarchical":
        attempts = [Message("system", _ARCHIVED[language][turns > 1].format(turns)), mark]
    else:
        is_structured = policy == "structured"
        attempts = [*_summary(state, language, room=room, structured=is_structured, count=count), mark]
    return next(((one,) for one in attempts if count([one]) <= most), ())


def _summary(
    state: MemoryState, language: Language, *, room: int, structured: bool, count: CountMessages
) -> list[Message]:
    """The summary in at most `room` tokens, [] where not one sentence fits."""

    def tokens(text: str) -> int:
        return count([Message("system", text)]) - frame

    def size(one: Extract) -> int:
        return tokens(f"- {one.text} ({one.source})\n" if structured else f"- {one.text}\n")

    frame = count([Message("system", "")])
    chosen = list(state.extracts(room=room - frame, size=size))
    while chosen:
        text = summary_text(chosen, language, messages=state.messages, structured=structured)
        if tokens(text) + frame <= room:
            return [Message("system", text)]
        chosen.remove(min(reversed(chosen), key=lambda one: one.score))
    return []


def _extracts(events: Sequence[Event]) -> list[Extract]:
    return [one for event in events for one in event.extracts]


def _messages(turns: Sequence[Turn]) -> tuple[Message, ...]:
    return tuple(message for turn in turns for message in turn.messages)


def _left_out(turns: Sequence[Turn], talk: Conversation) -> Message:
    return _mark(len(turns), talk.language or "en")


def _mark(turns: int, language: Language) -> Message:
    return Message("system", left_out(turns, language))
