"""The question sets as the fitting and the small-knowledge-base benchmarks use them: in process, with gold places."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxcli.model.index import FileRecord
from ctxcli.model.prepared import Prepared
from ctxcli.model.stored import StoredChunk
from ctxcli.services.prepare import prepare

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
