"""The embedded index: what is put in is found, what is taken out is gone, and damage is told."""

import os
import random
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ctxcli.index.embedded import EmbeddedReader, open_writer
from ctxcli.index.integrity import damaged_file, seal, unseal
from ctxcli.model.document import ParseWarning
from ctxcli.model.errors import DataError
from ctxcli.services.answering import Filters, Knowledge, ask
from ctxcli.services.searching import search
from ctxcli.text.analyzer import Analyzer
from tests.unit.index.made import SETTINGS, failed, made

TEXTS = {
    "docs/vents.md": "# Vents\n\n## 6.3 Opening\n\nThe vent opens.\n\n### 6.3.2 Wind\n\nIt closes in wind.\n",
    "docs/灌溉.md": "# 灌溉\n\n## 第三章 水泵\n\n水泵每天早上六点启动。\n",
    "docs/pump.md": "# Pump\n\nThe pump starts at six in the morning.\n",
}


def fill(folder: Path, texts: dict[str, str]) -> None:
    writer = open_writer(folder, SETTINGS)
    for path, text in texts.items():
        writer.put(*made(path, text))
    writer.commit(["docs"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    fill(tmp_path / "index-1", TEXTS)
    return tmp_path / "index-1"


def paths(reader: EmbeddedReader, weights: dict[str, float], **more: Any) -> set[str]:
    found = reader.candidates(weights, limit=30, **more)
    files = [reader.file(chunk.key.rpartition(":")[0]) for chunk in found]
    return {one.path for one in files if one}


def test_what_was_put_in_is_found(folder: Path) -> None:
    reader = EmbeddedReader(folder)
    assert [record.path for record in reader.files()] == sorted(TEXTS)
    assert paths(reader, {"vent": 1.0}) == {"docs/vents.md"}
    assert paths(reader, {"水泵": 1.0}) == {"docs/灌溉.md"}
    assert paths(reader, {"水泵": 1.0, "pump": 0.5}) == {"docs/灌溉.md", "docs/pump.md"}
    assert paths(reader, {"nothing": 1.0}) == set()
    assert reader.candidates({}, limit=5) == []


def test_counts_are_those_of_the_chunks(folder: Path) -> None:
    reader = EmbeddedReader(folder)
    chunks = list(reader.all_chunks())
    assert reader.stats["chunks"] == len(chunks)
    assert reader.stats["length"] == sum(chunk.length for chunk in chunks)
    assert reader.stats["files"] == 3
    assert reader.stats["roots"] == ["docs"]
    assert reader.document_frequency("pump") == 1
    assert reader.document_frequency("zzz") == 0
    assert reader.settings == SETTINGS


def test_a_section_and_those_below_it_can_be_asked_for(folder: Path) -> None:
    reader = EmbeddedReader(folder)
    assert paths(reader, {"wind": 1.0}, section="6.3.2") == {"docs/vents.md"}
    assert paths(reader, {"wind": 1.0}, section="6.3") == {"docs/vents.md"}
    assert paths(reader, {"wind": 1.0}, section="6.4") == set()
    assert paths(reader, {"水泵": 1.0}, section="第三章") == {"docs/灌溉.md"}


def test_documents_can_be_chosen(folder: Path) -> None:
    reader = EmbeddedReader(folder)
    chosen = [record.doc_id for record in reader.files() if record.path == "docs/pump.md"]
    assert paths(reader, {"start": 1.0, "vent": 1.0}, docs=chosen) == {"docs/pump.md"}
    assert paths(reader, {"vent": 1.0}, docs=chosen) == set()
    assert paths(reader, {"vent": 1.0}, docs=[]) == set()


def test_records_outlines_and_chunks_come_back_as_they_were(tmp_path: Path) -> None:
    writer = open_writer(tmp_path / "i", SETTINGS)
    record, prepared = made("docs/a.md", "# A 标题\n\n## 1.1 B\n\ntext\n")
    record = replace(record, warnings=(ParseWarning("odd", "it is odd: 奇怪", 3),), pages=4, encoding="gb18030")
    writer.put(record, prepared)
    writer.put(failed("docs/bad.pdf"), None)
    writer.commit(["docs"])
    reader = EmbeddedReader(tmp_path / "i")
    assert reader.files() == [record, failed("docs/bad.pdf")]
    assert reader.outline(record.doc_id) == prepared.outline
    assert reader.outline("unknown") == b"[]"
    assert reader.file("unknown") is None
    [chunk] = reader.chunks_of(record.doc_id)
    stored = reader.chunk(chunk.key)
    assert stored and (stored.text, stored.terms) == (prepared.chunks[0].text, prepared.chunks[0].terms)
    assert reader.chunk("unknown:0") is None


def test_a_deleted_file_is_really_gone(folder: Path) -> None:
    reader = EmbeddedReader(folder)
    before = reader.stats["chunks"]
    [doc] = [record for record in reader.files() if record.path == "docs/pump.md"]
    writer = open_writer(folder, SETTINGS)
    writer.remove(["docs/pump.md", "docs/not-there.md"])
    assert writer.commit(["docs"]) == before - doc.chunks
    after = EmbeddedReader(folder)
    assert after.document_frequency("pump") == 0
    assert after.chunks_of(doc.doc_id) == []
    assert after.stats["chunks"] == len(list(after.all_chunks())) == before - doc.chunks
    assert reader.document_frequency("pump") == 1, "a reader keeps what it opened"


def test_deletes_in_a_large_index_are_counted_out_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxcli.index.embedded_writer._ALWAYS_PURGE", 0)
    fill(tmp_path, {f"docs/{n}.md": f"# {n}\n\ncommon word{n}\n" for n in range(20)})
    writer = open_writer(tmp_path, SETTINGS)
    writer.remove(["docs/3.md", "docs/4.md"])
    writer.commit(["docs"])
    reader = EmbeddedReader(tmp_path)
    assert reader.stats["deleted"] == 2
    assert reader.document_frequency("common") == 18
    assert reader.document_frequency("word3") == 0


def test_nothing_is_seen_before_the_commit(folder: Path) -> None:
    writer = open_writer(folder, SETTINGS)
    writer.put(*made("docs/new.md", "# New\n\nzebra\n"))
    writer.remove(["docs/pump.md"])
    reader = EmbeddedReader(folder)
    assert reader.document_frequency("zebra") == 0
    assert reader.document_frequency("pump") == 1
    del writer
    again = open_writer(folder, SETTINGS)
    assert [record.path for record in again.files()] == sorted(TEXTS)
    again.put(*made("docs/new.md", "# New\n\nzebra\n"))
    again.commit(["docs"])
    assert EmbeddedReader(folder).document_frequency("zebra") == 1


def test_a_moved_file_keeps_chunks_and_outline(folder: Path) -> None:
    before = EmbeddedReader(folder)
    [old] = [record for record in before.files() if record.path == "docs/vents.md"]
    writer = open_writer(folder, SETTINGS)
    writer.move("docs/vents.md", replace(old, path="docs/sub/fenster.md"))
    writer.commit(["docs"])
    after = EmbeddedReader(folder)
    moved = after.file(old.doc_id)
    assert moved and moved.path == "docs/sub/fenster.md"
    assert after.outline(old.doc_id) == before.outline(old.doc_id)
    assert [chunk.key for chunk in after.chunks_of(old.doc_id)] == [c.key for c in before.chunks_of(old.doc_id)]


def test_other_settings_begin_anew_and_say_so(folder: Path) -> None:
    writer = open_writer(folder, replace(SETTINGS, analyzer="words/1"))
    assert writer.files() == []
    assert "settings" in writer.begun_anew
    assert EmbeddedReader(folder).settings == SETTINGS, "the old one serves until the commit"
    writer.put(*made("docs/only.md", "# Only\n\nword\n"))
    writer.commit(["docs"])
    assert [record.path for record in EmbeddedReader(folder).files()] == ["docs/only.md"]


def test_a_seal_tells_any_change() -> None:
    sealed = seal(b"text", b"key", b"meta")
    assert unseal(sealed, b"key", b"meta") == b"text"
    for spoilt, rest in (
        (b"\0" + sealed[1:], (b"key", b"meta")),
        (sealed, (b"key", b"mete")),
        (b"", (b"",)),
        (b"x", ()),
    ):
        with pytest.raises(ValueError):
            unseal(spoilt, *rest)


def engine_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)


def use(folder: Path) -> None:
    """All that a reader can be asked."""
    reader = EmbeddedReader(folder)
    knowledge = Knowledge({"default": reader}, analyzer=Analyzer())
    for question in ("When does the pump start?", "水泵几点启动？"):
        ask(knowledge, question)
        search(knowledge, question, limit=10)
        search(knowledge, question, limit=10, filters=Filters("6.3", "*.md"))
    list(reader.all_chunks())
    for record in reader.files():
        reader.outline(record.doc_id)


def damages(folder: Path) -> Iterator[tuple[Path, bytes | None]]:
    chance = random.Random(7)
    for path in engine_files(folder):
        content = path.read_bytes()
        yield path, None
        yield path, content[: len(content) // 2]
        yield path, b""
        yield path, chance.randbytes(len(content))
        for _ in range(6):
            at = chance.randrange(len(content))
            yield path, content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


def test_a_damaged_file_is_told_or_does_no_harm(folder: Path, tmp_path: Path) -> None:
    told = 0
    for path, content in damages(folder):
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        victim = copy / path.relative_to(folder)
        if content is None:
            victim.unlink()
        else:
            victim.write_bytes(content)
        try:
            use(copy)
        except DataError as error:
            told += 1
            assert error.code == "index_unreadable"
            assert "ctx kb index --rebuild" in error.hint
        writer = open_writer(copy, SETTINGS)
        assert writer.files() == [] or writer.files() == EmbeddedReader(folder).files()
        assert bool(writer.begun_anew) == (writer.files() == [])
        if path.suffix in {".store", ".idx", ".term", ".fieldnorm", ".pos", ".fast"}:
            assert writer.begun_anew, f"{path.suffix} was damaged unseen"
        shutil.rmtree(copy)
    assert told > 40


def test_a_damaged_index_is_mended_by_writing_it_anew(folder: Path) -> None:
    [store] = folder.rglob("*.store")
    content = store.read_bytes()
    store.write_bytes(content[:20] + bytes([content[20] ^ 1]) + content[21:])
    assert damaged_file(store.parent) == store.name
    writer = open_writer(folder, SETTINGS)
    assert store.name in writer.begun_anew
    for path, text in TEXTS.items():
        writer.put(*made(path, text))
    writer.commit(["docs"])
    use(folder)
    assert damaged_file(next(folder.glob("g*"))) == ""


def test_a_missing_statistic_or_segment_is_damage(folder: Path) -> None:
    [meta] = folder.rglob("meta.json")
    text = meta.read_text()
    start = text.index('"segments": [')
    end = text.index("]", start)
    meta.write_text(text[:start] + '"segments": [' + text[end:])
    with pytest.raises(DataError):
        _ = EmbeddedReader(folder).stats


def test_chunks_without_a_record_are_damage(tmp_path: Path) -> None:
    writer = open_writer(tmp_path, SETTINGS)
    record, prepared = made("docs/a.md", "# A\n\ntext\n")
    writer.put(record, prepared)
    writer._writing().delete_documents_by_term("key", f"file:{record.doc_id}")
    writer.commit(["docs"])
    with pytest.raises(DataError):
        EmbeddedReader(tmp_path).file(record.doc_id)


def test_an_empty_folder_is_no_index(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        EmbeddedReader(tmp_path)
    assert caught.value.code == "index_unreadable"


def test_the_engine_does_not_write_on_our_stderr(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for path in folder.rglob("*.pos"):
        content = path.read_bytes()
        for at in range(0, len(content), 3):
            path.write_bytes(content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
            with suppress(DataError):
                use(folder)
        path.write_bytes(content)
    os.write(2, b"still there\n")
    assert capfd.readouterr().err == "still there\n"
