"""One index run with a writer in memory and real workers."""

import os
import shutil
import sys
import unicodedata
from pathlib import Path

import pytest

from ctxcli.model.index import FileRecord
from ctxcli.parsing import formats
from ctxcli.services.ingest.look import Places, look
from ctxcli.services.ingest.plan import make_plan
from ctxcli.services.ingest.pool import Limits
from ctxcli.services.ingest.run import Outcomes, Progress, Reading, apply
from ctxcli.storage.manifest import Root
from tests.unit.services.fakes import MemoryWriter, bad_worker


def run(
    folder: Path, writer: MemoryWriter, *, body: str = "", watched: list[Progress] | None = None, seconds: float = 30
) -> Outcomes:
    places = Places(folder, (Root("."),), formats.is_candidate)
    plan = make_plan(writer.files(), look(places), scope=(".",), parser_version=formats.parser_version)
    line = tuple(bad_worker(body)) if body else ()
    reading = Reading("bigrams", Limits(seconds=seconds, seconds_per_mb=0), 2, line)
    writer.log.clear()
    watch = watched.append if watched is not None else lambda _: None
    return apply(plan, writer, reading=reading, parser_version=formats.parser_version, watch=watch)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(10**18, 10**18 + len(text) + hash(text) % 10**6))
    return path


def counts(outcomes: Outcomes) -> dict[str, int]:
    return {name: number for name, number in outcomes.counts.items() if number}


def by_path(writer: MemoryWriter) -> dict[str, FileRecord]:
    return writer.records


@pytest.fixture
def indexed(tmp_path: Path) -> MemoryWriter:
    """A writer with three files: two with a title of their own, one without."""
    write(tmp_path, "a.md", "# Alpha\n\nfirst text\n")
    write(tmp_path, "b.md", "# 乙\n\n第二篇\n")
    write(tmp_path, "plain.txt", "no title here, just words that go on\n")
    writer = MemoryWriter()
    assert counts(run(tmp_path, writer)) == {"indexed": 3}
    return writer


def test_nothing_is_written_where_nothing_changed(tmp_path: Path, indexed: MemoryWriter) -> None:
    outcomes = run(tmp_path, indexed)
    assert counts(outcomes) == {"unchanged": 3}
    assert not outcomes.changed
    assert not indexed.log


def test_a_file_that_was_only_touched_keeps_its_chunks(tmp_path: Path, indexed: MemoryWriter) -> None:
    os.utime(tmp_path / "a.md", ns=(1, 1))
    assert counts(run(tmp_path, indexed)) == {"unchanged": 3}
    assert indexed.log == ["move a.md a.md"]
    assert by_path(indexed)["a.md"].mtime_ns == 1
    assert not run(tmp_path, indexed).changed


def test_a_changed_file_is_read_again(tmp_path: Path, indexed: MemoryWriter) -> None:
    old = by_path(indexed)["a.md"]
    write(tmp_path, "a.md", "# Alpha\n\nother text\n")
    assert counts(run(tmp_path, indexed)) == {"indexed": 1, "unchanged": 2}
    assert by_path(indexed)["a.md"].doc_id != old.doc_id
    assert "other text" in "".join(indexed.chunks["a.md"])


def test_a_renamed_file_keeps_its_id_and_its_chunks(tmp_path: Path, indexed: MemoryWriter) -> None:
    old = by_path(indexed)["a.md"]
    (tmp_path / "a.md").rename(tmp_path / "z.md")
    assert counts(run(tmp_path, indexed)) == {"moved": 1, "unchanged": 2}
    assert indexed.log == ["move a.md z.md"]
    assert by_path(indexed)["z.md"].doc_id == old.doc_id


def test_a_renamed_file_whose_title_is_its_name_gets_the_new_title(tmp_path: Path, indexed: MemoryWriter) -> None:
    old = by_path(indexed)["plain.txt"]
    (tmp_path / "plain.txt").rename(tmp_path / "renamed.txt")
    assert counts(run(tmp_path, indexed)) == {"moved": 1, "unchanged": 2}
    new = by_path(indexed)["renamed.txt"]
    assert old.title_from_name
    assert new.title != old.title
    assert new.doc_id == old.doc_id


def test_a_file_renamed_onto_another_takes_its_place(tmp_path: Path, indexed: MemoryWriter) -> None:
    old = by_path(indexed)["a.md"]
    (tmp_path / "a.md").replace(tmp_path / "b.md")
    assert counts(run(tmp_path, indexed)) == {"moved": 1, "unchanged": 1}
    assert list(by_path(indexed)) == ["plain.txt", "b.md"]
    assert by_path(indexed)["b.md"].doc_id == old.doc_id


def test_a_file_moved_and_a_copy_put_in_its_place_are_both_there(tmp_path: Path, indexed: MemoryWriter) -> None:
    (tmp_path / "a.md").rename(tmp_path / "moved.md")
    shutil.copy(tmp_path / "moved.md", tmp_path / "a.md")
    run(tmp_path, indexed)
    assert {"a.md", "moved.md"} <= set(by_path(indexed))
    assert by_path(indexed)["moved.md"].doc_id == by_path(indexed)["a.md"].doc_id + "-2"
    assert indexed.chunks["moved.md"]


def test_one_file_that_became_two_is_a_move_and_a_new_file(tmp_path: Path, indexed: MemoryWriter) -> None:
    (tmp_path / "a.md").rename(tmp_path / "one.md")
    shutil.copy2(tmp_path / "one.md", tmp_path / "two.md")
    assert counts(run(tmp_path, indexed)) == {"moved": 1, "indexed": 1, "unchanged": 2}
    assert by_path(indexed)["two.md"].doc_id == by_path(indexed)["one.md"].doc_id + "-2"
    assert indexed.chunks["one.md"] and indexed.chunks["two.md"]


def test_files_with_equal_content_are_all_kept(tmp_path: Path) -> None:
    for name in ("c.md", "a.md", "b.md"):
        write(tmp_path, name, "# Same\n\nsame\n")
    writer = MemoryWriter()
    run(tmp_path, writer)
    first = by_path(writer)["a.md"].doc_id
    assert [record.doc_id for record in writer.files()] == [first, f"{first}-2", f"{first}-3"]


def test_a_removed_file_is_taken_out(tmp_path: Path, indexed: MemoryWriter) -> None:
    (tmp_path / "a.md").unlink()
    assert counts(run(tmp_path, indexed)) == {"removed": 1, "unchanged": 2}
    assert "a.md" not in by_path(indexed)


def test_a_broken_file_is_listed_every_time_until_it_is_mended(tmp_path: Path, indexed: MemoryWriter) -> None:
    write(tmp_path, "broken.pdf", "%PDF-1.4 this is no PDF at all")
    first = run(tmp_path, indexed)
    assert counts(first) == {"failed": 1, "unchanged": 3}
    assert first.changed
    second = run(tmp_path, indexed)
    assert second.failures == first.failures
    assert not second.changed
    (tmp_path / "broken.pdf").write_bytes((Path(__file__).parents[2] / "fixtures/pdf/manual-en.pdf").read_bytes())
    assert counts(run(tmp_path, indexed)) == {"indexed": 1, "unchanged": 3}
    assert by_path(indexed)["broken.pdf"].status == "ok"


def test_a_file_that_cannot_be_read_now_keeps_what_was_indexed(tmp_path: Path, indexed: MemoryWriter) -> None:
    write(tmp_path, "a.md", "# Alpha\n\nchanged while it was read\n")
    outcomes = run(
        tmp_path, indexed, body="os.utime(job.file, ns=(5, 5)) if job.name == 'none' else os.unlink(job.file)"
    )
    assert [one.code for one in outcomes.failures] == ["vanished"]
    assert indexed.chunks["a.md"]
    assert by_path(indexed)["a.md"].status == "ok"


def test_a_file_that_grows_while_it_is_read_is_tried_again(tmp_path: Path) -> None:
    path = write(tmp_path, "a.md", "# A\n")
    body = """
real_fstat = os.fstat
def fstat(descriptor):
    found = real_fstat(descriptor)
    with open(job.file, 'a') as handle: handle.write('more')
    return found
os.fstat = fstat"""
    writer = MemoryWriter()
    outcomes = run(tmp_path, writer, body=body)
    assert [one.code for one in outcomes.failures] == ["changed"]
    assert counts(run(tmp_path, writer)) == {"indexed": 1}
    assert path.read_text() != "# A\n"


def test_a_hanging_file_does_not_stop_the_run(tmp_path: Path) -> None:
    for name in ("a.md", "hang.md", "z.md"):
        write(tmp_path, name, f"# {name}\n")
    writer = MemoryWriter()
    outcomes = run(tmp_path, writer, body="if 'hang' in job.name: time.sleep(1000)", seconds=1)
    assert counts(outcomes) == {"indexed": 2, "failed": 1}
    assert by_path(writer)["hang.md"].code == "timeout"


def test_progress_counts_every_file_once(tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path, f"{number}.md", "# x\n")
    watched: list[Progress] = []
    run(tmp_path, MemoryWriter(), watched=watched)
    assert [one.done for one in watched] == [1, 2, 3, 4, 5]
    assert watched[-1].total == 5
    assert watched[-1].bytes_done == watched[-1].bytes_total


@pytest.mark.skipif(sys.platform == "darwin", reason="the disk composes names")
def test_a_name_composed_otherwise_keeps_its_chunks(tmp_path: Path) -> None:
    composed, decomposed = (unicodedata.normalize(form, "café.md") for form in ("NFC", "NFD"))
    write(tmp_path, decomposed, "# Coffee\n")
    writer = MemoryWriter()
    run(tmp_path, writer)
    (tmp_path / decomposed).rename(tmp_path / composed)
    assert counts(run(tmp_path, writer)) == {"unchanged": 1}
    assert list(by_path(writer)) == [composed]


def test_names_equal_but_for_signs_and_case_are_different_files(tmp_path: Path) -> None:
    for name in ("a b.md", "a_b.md", "a-b.md", "README.md", "Readme.md"):
        write(tmp_path, name, f"# {name}\n")
    writer = MemoryWriter()
    run(tmp_path, writer)
    assert len(writer.files()) == len(list(tmp_path.iterdir()))
