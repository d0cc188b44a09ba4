"""Answers worded by a language model: from the ranked chunks only, and only what they verifiably say."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ctxcli.answering import evidence
from ctxcli.answering.llm_prompt import Excerpt, messages
from ctxcli.answering.llm_verify import Cited, Source, Statement, verify
from ctxcli.model.answer import Answer, Passage
from ctxcli.model.chat import Usage
from ctxcli.model.ports import LanguageModel
from ctxcli.retrieval.bm25 import Match
from ctxcli.services import answering
from ctxcli.services.answering import Consideration, Knowledge
from ctxcli.services.asking import Asking

MOST_EXCERPTS = 8
"""Chunks that the model is shown at most; what answers is nearly always among the first."""
_FRAME = 40
"""Tokens that frame an excerpt, about."""
_RULES = 500
"""Tokens of the rules and of the question, about."""
_LEAST = 60
"""Tokens below which a part of a chunk is not worth showing."""

_NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class _Shown:
    """A slice of a chunk that the model is shown."""

    match: Match
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.match.chunk.text[self.start : self.end]


def answerer(asking: Asking, *, model: str | None, with_evidence: bool = False) -> Callable[[str], Answer]:
    """A function that answers questions in the words of the model that is named, or that the settings name."""
    from ctxcli import settings as settings_
    from ctxcli.services.models import language_model
    from ctxcli.text.tokens import TokenCounter

    settings = asking.workspace.settings if asking.workspace else settings_.load(None)
    chosen = language_model(settings, model=model)
    budget, count = settings.integer("context.budget"), TokenCounter(chosen.name).count
    return partial(ask, asking, model=chosen, budget=budget, count=count, with_evidence=with_evidence)


@dataclass(frozen=True, slots=True)
class _Worded:
    """What the model said, as far as it holds."""

    text: str = ""
    citations: tuple[Passage, ...] = ()
    usage: Usage = _NO_USAGE
    removed: int = 0


def ask(
    asking: Asking,
    text: str,
    *,
    model: LanguageModel,
    budget: int,
    count: Callable[[str], int],
    with_evidence: bool = False,
) -> Answer:
    """Answer `text` in the words of `model`, or decline; the model is asked only where the documents seem to say.

    `budget` bounds the tokens of the request, as `count` counts. Declines as `answering.ask` does, and as
    ``unverified`` where no sentence of the reply holds.
    """
    began = time.perf_counter()
    thought = answering.consider(asking.knowledge, text, limit=asking.limit)
    reason = answering.reason_of(asking.knowledge, thought, asking.threshold)
    worded = _Worded()
    if reason is None:
        worded = _worded(asking, thought, model, _shown(thought, budget - _RULES, count))
        reason = None if worded.text else "unverified"
    ranked = answering.ranked_passages(asking.knowledge, thought) if with_evidence or reason else ()
    return Answer(
        question=text,
        language=thought.question.language,
        text=worded.text or None,
        reason=reason,
        score=round(thought.score, 4),
        threshold=asking.threshold,
        citations=worded.citations,
        nearest=answering.nearest(ranked) if reason else (),
        candidate=worded.text or answering.candidate(thought),
        evidence=ranked if with_evidence else (),
        elapsed_ms=round((time.perf_counter() - began) * 1000, 1),
        method="llm",
        model=model.name,
        usage=worded.usage,
        removed_citations=worded.removed,
    )


def _worded(asking: Asking, thought: Consideration, model: LanguageModel, shown: Sequence[_Shown]) -> _Worded:
    """Ask the model, and keep of its reply what holds."""
    question = thought.question
    excerpts = [_excerpt(asking.knowledge, one) for one in shown]
    reply = model.reply(messages(question.text, excerpts, question.language), temperature=0.0)
    limit = evidence.LIMIT[question.language]
    found = verify(reply.text, [_source(one) for one in shown], question=question.text, limit=limit)
    passages = _passages(asking.knowledge, thought, shown, _distinct(found.statements))
    citations = tuple(replace(passage, stale=asking.is_stale(passage)) for passage in passages)
    return _Worded(_text(found.statements), citations, reply.usage or Usage(), found.removed)


def _shown(thought: Consideration, room: int, count: Callable[[str], int]) -> list[_Shown]:
    """The best chunks that fit into `room` tokens, going on past one that does not; the best one is cut to fit."""
    found: list[_Shown] = []
    for match in thought.matches[:MOST_EXCERPTS]:
        whole = _Shown(match, 0, len(match.chunk.text))
        size = count(whole.text) + _FRAME
        if size > room and not found:
            start, end = next(((one.start, one.end) for one in thought.windows if one.match is match), (0, 0))
            whole = _around(match, start, end, max(room - _FRAME, _LEAST), count)
            size = count(whole.text) + _FRAME
        elif size > room:
            continue
        found.append(whole)
        room -= size
    return found


def _around(match: Match, start: int, end: int, room: int, count: Callable[[str], int]) -> _Shown:
    """The window of a chunk, widened by whole units on both sides while it fits."""
    units = match.chunk.units
    inside = [at for at, unit in enumerate(units) if unit[0] < max(end, start + 1) and unit[1] > start] or [0]
    first, last = inside[0], inside[-1]
    text = match.chunk.text
    while True:
        for wider in ((first, last + 1), (first - 1, last)):
            fits = wider[0] >= 0 and wider[1] < len(units)
            if fits and count(text[units[wider[0]][0] : units[wider[1]][1]]) <= room:
                first, last = wider
                break
        else:
            return _Shown(match, units[first][0], units[last][1])


def _excerpt(knowledge: Knowledge, one: _Shown) -> Excerpt:
    passage = knowledge.passage(one.match, one.start, one.end, 0.0)
    place = [passage.doc, " > ".join(passage.heading_path), f"page {passage.page}" if passage.page else ""]
    return Excerpt(passage.chunk_id, " · ".join(filter(None, place)), one.text)


def _source(one: _Shown) -> Source:
    """The slice that the model saw, with its units and the headings above it."""
    units = tuple(
        (start - one.start, end - one.start)
        for start, end, _ in one.match.chunk.units
        if start >= one.start and end <= one.end
    )
    return Source(one.text, units, " ".join(one.match.chunk.path_of(one.start)))


def _distinct(statements: Iterable[Statement]) -> list[Cited]:
    """Every quote once, in the order of the text."""
    return list(dict.fromkeys(cited for one in statements for cited in one.cited))


def _text(statements: Sequence[Statement]) -> str:
    """The sentences with the numbers of their citations, list items on lines of their own."""
    number = {cited: n for n, cited in enumerate(_distinct(statements), 1)}
    parts: list[str] = []
    for one in statements:
        marks = "".join(f"[{n}]" for n in sorted(number[cited] for cited in one.cited))
        break_before = "" if not parts else "\n" if one.is_item or parts[-1].startswith(("- ", "\n- ")) else " "
        parts.append(f"{break_before}{'- ' if one.is_item else ''}{one.text} {marks}")
    return "".join(parts)


def _passages(
    knowledge: Knowledge, thought: Consideration, shown: Sequence[_Shown], cited: Sequence[Cited]
) -> Iterable[Passage]:
    best = max(thought.matches[0].score, 1e-9) if thought.matches else 1.0
    for one in cited:
        source = shown[one.source]
        score = thought.score * min(1.0, source.match.score / best)
        yield knowledge.passage(source.match, source.start + one.start, source.start + one.end, score)
