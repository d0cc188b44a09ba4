"""Gather, select, structure, compress: packets into a context that never exceeds its budget."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from ctxcli.model.context import Context, ContextPacket, Format, PacketReport, PacketState, Section
from ctxcli.model.errors import UsageError
from ctxcli.packing import select, structure
from ctxcli.packing.select import Judge, Scored
from ctxcli.packing.structure import Chosen
from ctxcli.text.bpe import whole_characters
from ctxcli.text.question import language_of
from ctxcli.text.tokens import TokenCounter

if TYPE_CHECKING:
    from ctxcli.model.answer import Passage
    from ctxcli.model.message import Message
    from ctxcli.packing.turns import Conversation, Turn

_LEAST_COMPRESSED = 10
"""Tokens below which what is left of a packet says nothing."""
_CONVERSATION_HEAD = 30
"""Tokens at most of what stands above the first turn."""
_NEWLINE = 4
"""Tokens at most by which a line end changes a count."""
_SURELY, _SURELY_ASCII = 3, 8
"""Characters a token, on average, above which a text is taken not to fit without being counted."""
_SEPARATOR = 2
"""Tokens that part one packet from the next."""


@dataclass(frozen=True, slots=True)
class ContextConfig:
    """How a context is built.

    `budget` is the most tokens it may have, counted as `model` counts. A packet scores relevance and recency by their
    weights; below `min_relevance` (0…1) it is dropped. Facts, open blockers and actions, and the conversation may take
    the given shares of the budget before other packets are chosen.
    """

    budget: int = 4_000
    model: str | None = None
    format: Format = "text"
    min_relevance: float = 0.1
    relevance_weight: float = 0.7
    recency_weight: float = 0.3
    facts_share: float = 0.3
    first_share: float = 0.25
    history_share: float = 0.3
    compress: bool = True

    def checked(self) -> "ContextConfig":
        """The config, or UsageError."""
        if self.budget < 1:
            raise UsageError(
                f"a budget of {self.budget} tokens is too small", code="bad_budget", hint="give at least 1 token"
            )
        if self.format not in get_args(Format):
            raise UsageError(f"there is no format {self.format!r}", code="bad_config", hint="use text or messages")
        names = ("min_relevance", "relevance_weight", "recency_weight", "facts_share", "first_share", "history_share")
        for name in names:
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} must be from 0 to 1, not {getattr(self, name)}", code="bad_config")
        return self


class _Fate(NamedTuple):
    """What became of a packet. Where `left` is given, it did not fit: so many tokens were left beside what is `chosen`.

    What it would have needed is counted when somebody asks.
    """

    row: Scored
    state: PacketState
    why: str = ""
    packet: ContextPacket | None = None
    left: int | None = None
    chosen: Chosen | None = None

    @property
    def shown(self) -> ContextPacket:
        """The packet as it is shown, or as it came where it is not."""
        return self.packet or self.row.packet


class _Work:
    """A context in the making: what is chosen, what became of each packet, and the tokens left (about)."""

    def __init__(self, chosen: Chosen, left: int, judge: Judge, talk: "tuple[Turn, ...]") -> None:
        self.chosen, self.left, self.judge, self.talk = chosen, left, judge, talk
        self.fates: list[_Fate] = []
        self.turns: list[tuple[Turn, PacketState, str, int]] = []

    def show_turns(self, turns: "Iterable[Turn]") -> None:
        """Show these turns, in the order of time."""
        wanted = {id(turn) for turn in turns}
        shown = tuple(turn for turn in self.talk if id(turn) in wanted)
        self.chosen = self.chosen._replace(turns=shown, turns_left_out=len(self.talk) - len(shown))


class Builder:
    """Builds one context after another under a config; pure: clock and packets are given."""

    def __init__(self, config: ContextConfig) -> None:
        self.config = config.checked()
        self.counter = TokenCounter(config.model)
        self._measured: tuple[Chosen | None, int] = None, 0

    def build(
        self, query: str, packets: Iterable[ContextPacket], history: "Sequence[Message]", *, now: datetime
    ) -> Context:
        """Build a context. Raises UsageError where instructions, task and output rules exceed the budget."""
        talk = _talk(history)
        system = talk.system if talk else ()
        everything = [
            *(ContextPacket(one.content, "system", source="session") for one in system),
            *map(_whole, packets),
        ]
        query = whole_characters(query)
        frame, rest = self._framed(query, everything)
        work = _Work(
            frame, self.config.budget - self._size_printed(frame), Judge(query, rest), talk.turns if talk else ()
        )
        if work.left < 0:
            raise self._too_large(frame, -work.left)
        rows = select.scored(
            rest,
            work.judge.share,
            now=now,
            relevance_weight=self.config.relevance_weight,
            recency_weight=self.config.recency_weight,
        )
        self._choose(work, self._sifted(rows, work))
        self._trim(work)
        return self._finished(query, work)

    def _framed(self, query: str, packets: Sequence[ContextPacket]) -> tuple[Chosen, list[ContextPacket]]:
        """What is never cut, and the packets that compete for the rest."""
        roles = {one.content.strip(): one for one in packets if one.section == "role"}
        tasks = [one for one in packets if one.section == "task"]
        output = tuple(one for one in packets if one.section == "output")
        language = language_of(query)
        has_evidence = any(one.section == "evidence" for one in packets)
        words = structure.OUTPUT if has_evidence else structure.OUTPUT_BARE
        return Chosen(
            language=language,
            role=tuple(roles.values()),
            task=(ContextPacket(query, "task"), *tasks),
            output=output or (ContextPacket(words[language], "output"),),
        ), [one for one in packets if one.section not in select.UNSCORED]

    def _too_large(self, frame: Chosen, over: int) -> UsageError:
        roles = sum(self.counter.count(one.content) for one in frame.role)
        budget = self.config.budget
        what = f"the instructions ({roles:,} tokens), the task and the output rules"
        return UsageError(
            f"{what} are {over:,} tokens over the budget of {budget:,}",
            code="over_budget",
            hint=f"they are never cut: allow at least {budget + over:,} tokens, or shorten them",
        )

    def _sifted(self, rows: Sequence[Scored], work: _Work) -> list[Scored]:
        """Without what is irrelevant, and each text once."""
        relevant = []
        for row in rows:
            needed = row.packet.section != "state" and row.packet.type not in select.FIRST_TYPES
            if needed and row.relevance < self.config.min_relevance:
                why = f"relevance {row.relevance:.2f} is below {self.config.min_relevance:g}"
                work.fates.append(_Fate(row, "dropped", why))
            else:
                relevant.append(row)
        kept, out = select.without_duplicates(relevant)
        for row, other in out:
            why = f"its text is in {other.packet.type} {other.packet.source}".rstrip()
            work.fates.append(_Fate(row, "dropped", why))
        return kept

    def _choose(self, work: _Work, rows: Sequence[Scored]) -> None:
        """Facts, then open blockers and actions, then the newest turns, each within its share; then the rest."""
        budget = self.config.budget
        facts = [row for row in rows if row.packet.section == "state"]
        first = [row for kind in select.FIRST_TYPES for row in rows if row.packet.type == kind]
        others = [row for row in rows if row.packet.section != "state" and row.packet.type not in select.FIRST_TYPES]
        self._take(work, facts, share=int(budget * self.config.facts_share))
        self._take(work, first, share=int(budget * self.config.first_share))
        older = self._take_turns(work, work.talk, share=int(budget * self.config.history_share))
        self._take(work, others, share=budget)
        left_out = self._take_turns(work, older, share=budget)
        for turn in left_out:
            size = self._turn_size(work.chosen, turn)
            work.turns.append((turn, "dropped", f"needs {size:,} tokens, {work.left:,} are left", size))

    def _take(self, work: _Work, rows: Sequence[Scored], *, share: int) -> None:
        """Keep what fits, best first, going on past what does not; what is too long is compressed."""
        share = min(share, work.left)
        for row in rows:
            fate, size = self._fate(work, row, share)
            work.fates.append(fate)
            if fate.state != "dropped":
                work.chosen = _with(work.chosen, fate.shown)
                share -= size
                work.left -= size

    def _fate(self, work: _Work, row: Scored, share: int) -> tuple[_Fate, int]:
        """What becomes of a packet where `share` tokens are left for it, and about how many it takes."""
        surely = _SURELY_ASCII if row.packet.content.isascii() else _SURELY
        is_too_large = len(row.packet.content) > surely * max(share, _LEAST_COMPRESSED)
        size = 0 if is_too_large else self._packet_size(work.chosen, row.packet)
        if not is_too_large and size <= share:
            return _Fate(row, "kept", "fits"), size
        short = self._compressed(work, row.packet, share)
        if short is None:
            return _Fate(row, "dropped", left=share, chosen=work.chosen), 0
        fate = _Fate(row, "compressed", packet=short, left=share, chosen=work.chosen)
        return fate, self._packet_size(work.chosen, short)

    def _packet_size(self, chosen: Chosen, packet: ContextPacket) -> int:
        """About the tokens that a packet adds."""
        head = "" if getattr(chosen, packet.section) else structure.HEADS[packet.section] + "\n\n\n"
        number = "[99] " if packet.section == "evidence" else ""
        text = f"{head}{number}{structure.shown(packet, chosen.language)}\n\n"
        return self.counter.count(text) + 1

    def _compressed(self, work: _Work, packet: ContextPacket, share: int) -> ContextPacket | None:
        """The packet shortened to whole sentences that fit; None where not one does, and for facts."""
        if not self.config.compress or packet.section == "state" or share < _LEAST_COMPRESSED:
            return None
        room = share - self._packet_size(work.chosen, packet._replace(content="")) - _SEPARATOR
        if room < _LEAST_COMPRESSED:
            return None
        if packet.passage:
            return self._quoted(packet, packet.passage, room, work.judge)
        from ctxcli.packing.compress import compress  # on use: reading sentences is slow to load

        text = compress(
            packet.content,
            room=room,
            count=self.counter.count,
            weight=work.judge.share,
            language=work.chosen.language,
        )
        return packet._replace(content=text) if text else None

    def _quoted(self, packet: ContextPacket, passage: "Passage", room: int, judge: Judge) -> ContextPacket | None:
        """A chunk shortened to its quote, or to the sentence of that which bears most on the query and fits."""
        from ctxcli.packing.quotes import marked, sentences, whole_sentences

        quote = whole_sentences(passage.quote)
        if self.counter.count(marked(quote)) > room:
            parts = sorted(filter(judge.share, sentences(quote)), key=judge.share, reverse=True)
            quote = next((one for one in parts if self.counter.count(marked(one)) <= room), "")
        if not quote:
            return None
        return packet._replace(content=marked(quote), passage=replace(passage, quote=quote))

    def _take_turns(self, work: _Work, turns: "Sequence[Turn]", *, share: int) -> "list[Turn]":
        """Keep the newest turns that fit, whole, going on past one that does not; returns the others."""
        share = min(share, work.left)
        others: list[Turn] = []
        kept = list(work.chosen.turns)
        for turn in reversed(turns):
            bare = self._turn_size(work.chosen, turn)
            size = bare + (0 if kept or self.config.format == "messages" else _CONVERSATION_HEAD)
            if size > share:
                others.append(turn)
                continue
            kept.append(turn)
            work.turns.append((turn, "kept", "fits", bare))
            share -= size
            work.left -= size
        work.show_turns(kept)
        return others[::-1]

    def _turn_size(self, chosen: Chosen, turn: "Turn") -> int:
        """About the tokens that a turn adds, without the head of the conversation."""
        if self.config.format == "messages":
            return sum(map(self.counter.count_message, turn.messages))
        return self.counter.count(f"{structure.guarded(turn.shown(chosen.language))}\n") + 1

    def _trim(self, work: _Work) -> None:
        """Shorten or drop what was chosen last until the exact count fits: sums of parts are not exact."""
        while (over := self._size_printed(work.chosen) - self.config.budget) > 0:
            self._drop_last(work, over)

    def _drop_last(self, work: _Work, over: int) -> None:
        why = f"{over:,} tokens over the budget when all is put together"
        for at in range(len(work.fates) - 1, -1, -1):
            fate = work.fates[at]
            if fate.state != "dropped":
                section = fate.shown.section
                rest = tuple(one for one in getattr(work.chosen, section) if one is not fate.shown)
                room = self._packet_size(work.chosen, fate.shown) - over - _SEPARATOR
                work.chosen = _with_section(work.chosen, section, rest)
                work.fates[at] = _Fate(fate.row, "dropped", why)
                if fate.state == "kept" and (short := self._compressed(work, fate.row.packet, room)):
                    work.chosen = _with(work.chosen, short)
                    work.fates[at] = _Fate(fate.row, "compressed", why, short)
                return
        oldest = work.chosen.turns[0]
        work.show_turns(work.chosen.turns[1:])
        work.turns = [
            (turn, "dropped", why, size) if turn is oldest else (turn, state, said, size)
            for turn, state, said, size in work.turns
        ]

    def _size_printed(self, chosen: Chosen) -> int:
        """The exact count, also with the line end that is printed behind a text."""
        size = self._size(chosen)
        if self.config.format == "messages" or size < self.config.budget - _NEWLINE:
            return size
        return max(size, self.counter.count(f"{structure.as_text(chosen)}\n"))

    def _size(self, chosen: Chosen) -> int:
        """The exact count."""
        if self._measured[0] is not chosen:
            self._measured = chosen, self._count(chosen)
        return self._measured[1]

    def _count(self, chosen: Chosen) -> int:
        if self.config.format == "messages":
            return self.counter.count_messages(structure.as_messages(chosen))
        return self.counter.count(structure.as_text(chosen))

    def _finished(self, query: str, work: _Work) -> Context:
        chosen = work.chosen
        evidence = structure.against_the_middle(chosen.evidence)
        return Context(
            query=query,
            text=structure.as_text(chosen),
            tokens=self._size(chosen),
            budget=self.config.budget,
            encoding=self.counter.encoding,
            citations=tuple(one.passage or one for one in evidence),
            format=self.config.format,
            rendered=lambda: structure.as_messages(chosen),
            reports=lambda: tuple(self._reports(work)),
        )

    def _reports(self, work: _Work) -> Iterable[PacketReport]:
        for one in (*work.chosen.role, *work.chosen.task, *work.chosen.output):
            tokens = self.counter.count(one.content)
            yield PacketReport(one.type, one.source, tokens, None, None, None, "kept", "never cut")
        for fate in work.fates:
            row, tokens = fate.row, self.counter.count(fate.shown.content)
            yield PacketReport(
                row.packet.type, row.packet.source, tokens, row.relevance, row.recency, row.score, fate.state,
                fate.why or self._said(fate),
            )  # fmt: skip
        for turn, state, why, size in work.turns:
            yield PacketReport("turn", turn.id, size, None, None, None, state, why)

    def _said(self, fate: _Fate) -> str:
        """Why a packet did not fit as it was."""
        needed = self._packet_size(fate.chosen, fate.row.packet) if fate.chosen else 0
        return f"needs {needed:,} tokens, {max(0, fate.left or 0):,} are left"


def _whole(packet: ContextPacket) -> ContextPacket:
    """A packet without halves of characters, which no stream takes, and which count otherwise when they are escaped."""
    content, source = whole_characters(packet.content), whole_characters(packet.source)
    return (
        packet
        if content is packet.content and source is packet.source
        else packet._replace(content=content, source=source)
    )


def _talk(history: "Sequence[Message]") -> "Conversation | None":
    """The conversation, None where there is none: most contexts have none, and need not load what reads it."""
    if not history:
        return None
    from ctxcli.packing.turns import converse, with_whole_characters

    return converse(map(with_whole_characters, history))


def _with(chosen: Chosen, packet: ContextPacket) -> Chosen:
    return _with_section(chosen, packet.section, (*getattr(chosen, packet.section), packet))


def _with_section(chosen: Chosen, section: Section, packets: tuple[ContextPacket, ...]) -> Chosen:
    changed: dict[str, Any] = {section: packets}
    return chosen._replace(**changed)
