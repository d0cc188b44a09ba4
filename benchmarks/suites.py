"""The question sets as the fitting and the small-knowledge-base benchmarks use them: in process, with gold places."""

import json
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ctxcli.index.embedded import EmbeddedReader, open_writer
from ctxcli.index.memory import MemoryIndex
from ctxcli.model.index import FileRecord, IndexSettings
from ctxcli.model.prepared import Prepared
from ctxcli.model.stored import StoredChunk
from ctxcli.services.answering import Knowledge
from ctxcli.services.prepare import prepare
from ctxcli.text.analyzer import Analyzer

SETS = Path(os.environ.get("CTX_EVAL") or Path(__file__).resolve().parent.parent.parent / "shared" / "eval")
sys.path[:0] = [str(SETS), str(SETS / "vault")]

GoldTest = Callable[[str, StoredChunk, int, int], bool]
"""Whether a slice of a chunk of the document at a path answers."""


@dataclass(frozen=True)
class Asked:
    """A question of a set; `is_gold` is None where it has no answer."""

    id: str
    suite: str
    language: str
    text: str
    kind: str
    doc: str
    is_gold: GoldTest | None


@dataclass(frozen=True)
class Suite:
    """Documents, prepared, and the questions asked of them."""

    name: str
    documents: list[tuple[FileRecord, Prepared]]
    questions: list[Asked]


def suites() -> Iterator[Suite]:
    """dev/en, dev/zh and each corpus of the vault."""
    for language in ("en", "zh"):
        yield _dev(language)
    with (SETS / "vault" / "questions.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for corpus in sorted(path.name for path in (SETS / "vault" / "corpora").iterdir()):
        yield _vault(corpus, [row for row in rows if row["corpus"] == corpus])


def _documents(folder: Path) -> list[tuple[FileRecord, Prepared]]:
    found = []
    for number, path in enumerate(sorted(path for path in folder.rglob("*") if path.is_file())):
        prepared = prepare(path.read_bytes(), name=path.name)
        record = FileRecord(
            path=path.relative_to(folder).as_posix(), root="", doc_id=f"d{number}", size=0, mtime_ns=0, sha256="",
            status="ok", title=prepared.title, chunks=len(prepared.chunks),
        )  # fmt: skip
        found.append((record, prepared))
    return found


def _dev(language: str) -> Suite:
    import score

    def gold(row: dict[str, Any]) -> GoldTest:
        windows = score.evidence_windows(row)

        def test(path: str, chunk: StoredChunk, start: int, end: int) -> bool:
            text = score.norm(chunk.text[start:end])
            return bool(score.same_doc(path, row["doc"])) and any(window in text for window in windows)

        return test

    folder = SETS / "dev" / language
    with (folder / "questions.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    questions = [
        Asked(row["id"], f"dev-{language}", language, row["question"], row["kind"], row["doc"] or "",
              gold(row) if row["answerable"] else None)
        for row in rows
    ]  # fmt: skip
    return Suite(f"dev-{language}", _documents(folder / "docs"), questions)


def _vault(corpus: str, rows: list[dict[str, Any]]) -> Suite:
    import score_vault

    def gold(row: dict[str, Any]) -> GoldTest:
        def test(path: str, chunk: StoredChunk, start: int, end: int) -> bool:
            place = chunk.place(start, end)
            cited = {"doc": path, "page": place.page, "page_end": place.page_end, "line_start": place.line_start,
                     "line_end": place.line_end, "text": chunk.text[start:end]}  # fmt: skip
            answers = [a for one in score_vault.golds(row) for a in one.get("answers") or row["answers"]]
            return score_vault.meets(cited, row) and score_vault.holds(cited["text"], answers)

        return test

    questions = [
        Asked(row["id"], f"vault-{corpus}", row["lang"], row["question"], row.get("kind") or row.get("style", ""),
              row.get("doc") or "", gold(row) if row["answerable"] else None)
        for row in rows
    ]  # fmt: skip
    return Suite(f"vault-{corpus}", _documents(SETS / "vault" / "corpora" / corpus), questions)


def knowledge(documents: list[tuple[FileRecord, Prepared]], *, analyzer: Analyzer) -> Knowledge:
    """Documents as they are asked: in memory where there are few chunks, else indexed by the engine."""
    if sum(len(prepared.chunks) for _, prepared in documents) <= 400:
        return Knowledge({"kb": MemoryIndex(documents)}, analyzer=analyzer)
    folder = Path(tempfile.mkdtemp(prefix="ctx-bench-"))
    writer = open_writer(folder, IndexSettings(1, analyzer.id, "bench"))
    for record, prepared in documents:
        writer.put(record, prepared)
    writer.commit(["bench"])
    return Knowledge({"kb": EmbeddedReader(folder)}, analyzer=analyzer)


@dataclass(frozen=True)
class Small:
    """A small knowledge base cut out of a suite, and the questions asked of it with what they are.

    `kind` is ``answerable``, ``removed`` (its document is there, the answer is not) or ``other`` (about
    another document).
    """

    size: str
    documents: list[tuple[FileRecord, Prepared]]
    questions: list[tuple[Asked, str]]


def small_ones(suite: Suite, *, seed: int = 7) -> Iterator[Small]:
    """Knowledge bases of 3 neighbouring chunks and of 5, 50 and 500 documents less a fifth of their chunks."""
    chance = random.Random(seed)
    asked: dict[str, list[Asked]] = {}
    for question in suite.questions:
        if question.is_gold:
            asked.setdefault(question.doc, []).append(question)
    known = [one for one in suite.documents if one[0].path in asked]
    for size, count in (("3 chunks", 80), ("5 documents", 30), ("50 documents", 8), ("500 documents", 1)):
        for _ in range(count):
            documents = (
                _three_chunks(known, chance) if size == "3 chunks" else _some(known, int(size.split()[0]), chance)
            )
            yield Small(size, documents, list(_labelled(documents, asked, chance)))


def _three_chunks(known: list[tuple[FileRecord, Prepared]], chance: random.Random) -> list[tuple[FileRecord, Prepared]]:
    record, prepared = chance.choice([one for one in known if len(one[1].chunks) >= 3] or known)
    first = chance.randrange(max(1, len(prepared.chunks) - 2))
    return [(record, replace(prepared, chunks=prepared.chunks[first : first + 3]))]


def _some(
    known: list[tuple[FileRecord, Prepared]], count: int, chance: random.Random
) -> list[tuple[FileRecord, Prepared]]:
    chosen = chance.sample(known, min(count, len(known)))
    return [
        (record, replace(prepared, chunks=tuple(chunk for chunk in prepared.chunks if chance.random() > 0.2)))
        for record, prepared in chosen
    ]


def _labelled(
    documents: list[tuple[FileRecord, Prepared]], asked: dict[str, list[Asked]], chance: random.Random
) -> Iterator[tuple[Asked, str]]:
    inside = {record.path: prepared for record, prepared in documents}
    own = [question for path in sorted(inside) for question in asked.get(path, ())]
    strange = [question for path in sorted(asked) if path not in inside for question in asked[path]]
    for question in chance.sample(own, min(len(own), 60)):
        held = any(
            question.is_gold(question.doc, StoredChunk("x:0", one.text, one.terms, one.meta), 0, len(one.text))
            for one in inside[question.doc].chunks
            if question.is_gold
        )
        yield question, "answerable" if held else "removed"
    for question in chance.sample(strange, min(len(strange), 6)):
        yield question, "other"
