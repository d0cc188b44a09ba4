"""Ask questions whose answers are known, and fit threshold and scale of a knowledge base."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from random import Random

from ctxcli.answering import metrics, score_scale
from ctxcli.model.answer import Passage
from ctxcli.model.calibration import AS_IT_IS, Calibration, Fit
from ctxcli.model.errors import DataError
from ctxcli.model.evaluation import Evaluation, KnownQuestion, Outcome
from ctxcli.model.stored import StoredChunk
from ctxcli.parsing.places import is_within
from ctxcli.services.asking import Asking
from ctxcli.text.analyzer import is_unspaced
from ctxcli.text.comparing import as_compared

_KEYS = frozenset({"id", "question", "answerable", "answers", "doc", "section", "page", "lines", "section_number"})
MADE = 120
"""How many questions are made out of a knowledge base where none are given, and as many that it does not answer."""
PRIOR = 40
"""The default threshold counts as much as so many questions."""


def read_questions(lines: Iterable[str], *, name: str) -> list[KnownQuestion]:
    """The questions of a file, a JSON object a line; DataError names the line that cannot be read."""
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(_question(json.loads(line), number))
            except (ValueError, TypeError, LookupError, RecursionError) as error:
                raise DataError(
                    f"{name}:{number}: {error}",
                    code="bad_questions",
                    hint='each line is {"id", "question", "answerable", "answers", "doc", "section", "page", "lines"}',
                ) from None
    if not found:
        raise DataError(f"{name}: there is no question", code="bad_questions", hint="write one question a line")
    return found


def _question(row: object, number: int) -> KnownQuestion:
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    question = row.get("question")
    if not isinstance(question, str) or not question.strip():
        raise ValueError("`question` is missing or empty")
    answers = row.get("answers") or ()
    if isinstance(answers, str) or not all(isinstance(answer, str) for answer in answers):
        raise ValueError("`answers` must be a list of texts")
    answerable = row.get("answerable", True)
    if not isinstance(answerable, bool):
        raise ValueError("`answerable` must be true or false")
    page, lines = row.get("page"), row.get("lines")
    if page is not None and not _is_count(page):
        raise ValueError("`page` must be a number from 1")
    if lines is not None and not (isinstance(lines, list) and len(lines) == 2 and all(map(_is_count, lines))):
        raise ValueError("`lines` must be [first, last], from 1")
    if lines and lines[0] > lines[1]:
        raise ValueError("`lines` must be [first, last], from 1")
    for key in row.keys() - _KEYS:
        if meant := get_close_matches(key.lower(), _KEYS, n=1, cutoff=0.85):
            raise ValueError(f"unknown key `{key}`: did you mean `{meant[0]}`?")
    return KnownQuestion(
        id=str(row.get("id", number)),
        question=question,
        answerable=answerable,
        answers=tuple(answers),
        doc=str(row.get("doc") or ""),
        section=str(row.get("section_number") or row.get("section") or ""),
        page=page,
        lines=(lines[0], lines[1]) if lines else None,
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def evaluate(asking: Asking, questions: Sequence[KnownQuestion]) -> Evaluation:
    """Ask every question and compare with what is known."""
    outcomes = tuple(_outcome(asking, question) for question in questions)
    return Evaluation(
        threshold=asking.threshold,
        outcomes=outcomes,
        figures=metrics.figures(outcomes),
        suggested=metrics.best_threshold(outcomes),
        curve=metrics.risk_coverage(outcomes),
    )


def _outcome(asking: Asking, question: KnownQuestion) -> Outcome:
    answer = asking.ask(question.question, with_evidence=True)
    right_doc = [_same_doc(passage.doc, question.doc) for passage in answer.evidence]
    right_place = [_at_place(passage, question) for passage in answer.evidence]
    place_rank = _first(right_place)
    shown = as_compared(answer.candidate or "")
    knows_place = bool(question.doc and (question.page or question.lines or question.section or question.answers))
    right: bool | None = None
    if question.answers:
        right = any(as_compared(text) in shown for text in question.answers)
    elif knows_place:
        right = place_rank == 1
    return Outcome(
        id=question.id,
        answerable=question.answerable,
        declined=answer.declined,
        score=answer.score,
        doc_rank=_first(right_doc),
        place_rank=place_rank,
        right=right if question.answerable else False,
        knows_doc=bool(question.doc),
        knows_place=knows_place,
    )


def _first(flags: Sequence[bool]) -> int | None:
    return next((rank for rank, flag in enumerate(flags, 1) if flag), None)


def _same_doc(path: str, wanted: str) -> bool:
    return bool(wanted) and (path == wanted or path.endswith(f"/{wanted}"))


def _at_place(passage: Passage, question: KnownQuestion) -> bool:
    """Whether a quote meets the page or the lines that are known, else the section, else the answer itself."""
    if not _same_doc(passage.doc, question.doc):
        return False
    if question.page is not None and passage.page is not None:
        return passage.page <= question.page <= (passage.page_end or passage.page)
    if question.lines is not None and passage.line_start is not None:
        return passage.line_start <= question.lines[1] and (passage.line_end or 0) >= question.lines[0]
    if question.section:
        return is_within(question.section, number=passage.section, heading=passage.heading, path=passage.heading_path)
    return any(as_compared(text) in as_compared(passage.quote) for text in question.answers)


def made_questions(chunks: Sequence[StoredChunk], *, seed: int = 1) -> Iterator[KnownQuestion]:
    """Questions made out of a knowledge base: half are answered in one place, half in none.

    The first take four words of a sentence and two of elsewhere, as people ask in words that are not all the
    document's; the others take two words each of three documents. The same chunks and seed give the same questions.
    """
    chance = Random(seed)
    pool = sorted((chunk for chunk in chunks if _wordy(chunk)), key=lambda chunk: chunk.key)
    chance.shuffle(pool)
    for number, chunk in enumerate(pool[:MADE]):
        others = [one for one in chance.sample(pool, min(len(pool), 12)) if one.key[:16] != chunk.key[:16]]
        words, text = _words_of(chunk, chance, 4)
        if not others or len(words) < 4:
            continue
        strange = [_words_of(other, chance, 2)[0] for other in others[:2]]
        yield KnownQuestion(f"made-{number}", " ".join(words + strange[0]), answers=(text,))
        if len(strange) == 2:
            mixed = " ".join(words[:2] + strange[0] + strange[1])
            yield KnownQuestion(f"mixed-{number}", mixed, answerable=False)


def _wordy(chunk: StoredChunk) -> bool:
    return any(kind == "prose" and end - start > 40 for start, end, kind in chunk.units)


def _words_of(chunk: StoredChunk, chance: Random, count: int) -> tuple[list[str], str]:
    """Some words of a sentence, in order, and the sentence."""
    prose = [at for at, (start, end, kind) in enumerate(chunk.units) if kind == "prose" and end - start > 40]
    at = chance.choice(prose)
    start, end, _ = chunk.units[at]
    terms = chunk.terms.split("\n")[at + 2].split()
    words = [term for term in terms if len(term) > 1 or not is_unspaced(term)]
    kept = sorted(chance.sample(range(len(words)), min(len(words), count)))
    return [words[one] for one in kept], chunk.text[start:end]


def calibrate(asking: Asking, questions: Sequence[KnownQuestion], *, default: float, made: bool) -> Fit:
    """Ask every question and fit threshold and scale to what became of them; what was fitted before is forgotten."""
    asking.knowledge.scale = None
    return fit(evaluate(asking, questions).outcomes, default=default, made=made)


def fit(outcomes: Sequence[Outcome], *, default: float, made: bool = False) -> Fit:
    """The scale of the scores, and the threshold on it.

    The scale stays as it is where the questions were `made`, which says nothing of people's, where all of them or none
    were rightly answered, which says nothing of where to decline, and where scales that were fitted to some of the
    questions foretell nothing better of the others.
    """
    judged = [] if made else [(one.score, one.right) for one in outcomes if one.right is not None]
    if len({right for _, right in judged}) < 2:
        judged = []
    scale, before, after = AS_IT_IS, score_scale.brier(judged), score_scale.brier_unseen(judged)
    if before is not None and after is not None:
        before, after = round(before, 4), round(after, 4)
        if after < before:
            scale = score_scale.fitted_scale(judged)
    scaled = [replace(one, score=scale.of(one.score)) for one in outcomes]
    threshold = fitted_threshold(scaled, default=default, made=made)
    return Fit(Calibration(threshold, scale), len(outcomes), made, before, after)


def fitted_threshold(outcomes: Sequence[Outcome], *, default: float, made: bool = False) -> float:
    """The threshold that fits the outcomes (0.05…0.95), drawn towards the default where there are few.

    Questions that were `made` are in the documents' own words and score higher than people's: they move it a quarter.
    """
    best = metrics.best_threshold(outcomes)
    if best is None:
        return default
    count = sum(one.right is not None for one in outcomes)
    prior = PRIOR + (3 * count if made else 0)
    drawn = (count * best + prior * default) / (count + prior)
    return round(min(0.95, max(0.05, drawn)), 3)
