"""What holds for an index after any sequence of changes."""

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxcli.index.embedded import EmbeddedReader, open_writer
from ctxcli.index.memory import MemoryIndex
from ctxcli.model.index import FileRecord
from ctxcli.model.prepared import Prepared
from ctxcli.services.answering import Knowledge, ask
from ctxcli.services.searching import search
from ctxcli.text.analyzer import Analyzer
from tests.unit.index.made import SETTINGS, failed, made

PATHS = [f"docs/{name}.md" for name in ("a", "b", "c", "d", "甲")]
TEXTS = [
    "# Vents\n\nThe vent opens at 28 degrees.\n",
    "# Pump\n\nThe pump starts at six. It stops at seven.\n\n# Valve\n\nThe valve has no pump.\n",
    "# 灌溉\n\n水泵每天六点启动。阀门在七点关闭。\n",
    "# Long\n\n" + "The vent and the pump are checked every day. " * 60 + "\n",
    "---\nkeywords: 水泵\n---\n",
]
CHANGES = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(PATHS), st.sampled_from(TEXTS)),
    st.tuples(st.just("fail"), st.sampled_from(PATHS), st.just("")),
    st.tuples(st.just("move"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
    st.tuples(st.just("remove"), st.sampled_from(PATHS), st.just("")),
    st.tuples(st.just("commit"), st.just(""), st.just("")),
    st.tuples(st.just("drop"), st.just(""), st.just("")),
)
QUESTIONS = ("When does the pump start?", "水泵几点启动？", "Is the vent checked every day?")
ANALYZER = Analyzer()
Files = dict[str, tuple[FileRecord, Prepared | None]]


def change(writer: Any, files: Files, kind: str, path: str, other: str) -> None:
    """Do one change to the writer and to what it should then hold."""
    if kind == "put":
        record, prepared = made(path, other)
        taken = {one.doc_id for name, (one, _) in files.items() if name != path}
        free = next(one for one in (record.doc_id, *(f"{record.doc_id}-{n}" for n in range(2, 9))) if one not in taken)
        record = replace(record, doc_id=free)  # no two files share an id: a renamed one keeps its own
        writer.put(record, prepared)
        files[path] = (record, prepared)
    elif kind == "fail":
        writer.put(failed(path), None)
        files[path] = (failed(path), None)
    elif kind == "remove":
        writer.remove([path])
        files.pop(path, None)
    elif kind == "move" and path in files and path != other and files[path][0].status == "ok":
        writer.remove([other])
        files.pop(other, None)
        record, prepared = files.pop(path)
        files[other] = (replace(record, path=other), prepared)
        writer.move(path, files[other][0])


def view(reader: Any) -> dict[str, object]:
    """All that can be seen of an index."""
    knowledge = Knowledge({"default": reader}, analyzer=ANALYZER)
    answers = [replace(ask(knowledge, question), elapsed_ms=0) for question in QUESTIONS]
    hits = [search(knowledge, question, limit=50, mode=mode) for question in QUESTIONS for mode in ("bm25", "keyword")]
    terms = ("pump", "vent", "水泵", "六点", "valv", "day", "nothing")
    return {
        "files": reader.files(),
        "frequencies": [reader.document_frequency(term) for term in terms],
        "counts": (reader.stats["chunks"], reader.stats["length"]),
        "answers": answers,
        "hits": hits,
    }


def built_at_once(folder: Path, files: Files) -> EmbeddedReader:
    writer = open_writer(folder, SETTINGS)
    for record, prepared in files.values():
        writer.put(record, prepared)
    writer.commit(["docs"])
    return EmbeddedReader(folder)


@given(changes=st.lists(CHANGES, max_size=25))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_an_index_after_changes_is_as_one_built_at_once(changes: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "changed"
        files: Files = {}
        kept: Files = {}
        committed = False
        writer = open_writer(folder, SETTINGS)
        for kind, path, other in [*changes, ("commit", "", "")]:
            if kind == "commit":
                held = writer.commit(["docs"])
                kept, committed = dict(files), True
                assert held == sum(record.chunks for record, _ in kept.values())
            elif kind == "drop":
                files = dict(kept)
            if kind in {"commit", "drop"}:
                del writer
                writer = open_writer(folder, SETTINGS)
                assert bool(writer.begun_anew) == (not committed and (folder / "g1").exists())
            else:
                change(writer, files, kind, path, other)
            assert [record.path for record in writer.files()] == sorted(files)
        changed = EmbeddedReader(folder)
        assert view(changed) == view(built_at_once(Path(place) / "once", kept))
        assert changed.stats["entries"] == changed._searcher.num_docs
        shutil.rmtree(folder)


@given(texts=st.dictionaries(st.sampled_from(PATHS), st.sampled_from(TEXTS), min_size=1))
@settings(max_examples=20, deadline=None)
def test_an_index_in_memory_answers_as_the_embedded_one(texts: dict[str, str]) -> None:
    files: Files = {path: made(path, text) for path, text in texts.items()}
    memory = MemoryIndex([(record, prepared) for record, prepared in files.values() if prepared])
    with tempfile.TemporaryDirectory() as place:
        assert view(memory) == view(built_at_once(Path(place) / "once", files))
