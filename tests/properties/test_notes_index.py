"""After any sequence of operations, by ctx and by hand, the index says what one built anew says."""

import json
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxcli.model.errors import CtxError
from ctxcli.services import workspace
from ctxcli.services.note_tool import NoteTool
from ctxcli.services.notes import Notebook
from ctxcli.storage import notes_index
from ctxcli.storage.notes_index import Row

titles = st.sampled_from(["计划", "plan", "My Note", "a/b", "yes", "周报: 第3周"])
names = st.sampled_from(["a.md", "sub/b.md", "计划.md", "C.MD", "x.txt"])
bodies = st.sampled_from(
    [
        "",
        "text",
        "---\ntitle: h\ntags: [a]\n---\nx",
        "---\ntitle: a: b\n---\n",
        "---\nid: same\n---\n",
        "\ufeff---\nid: q\n---\n",
    ]
)
operations = st.lists(
    st.one_of(
        st.tuples(st.just("create"), titles, bodies),
        st.tuples(st.just("update"), st.integers(0, 5), titles),
        st.tuples(st.just("tag"), st.integers(0, 5), titles),
        st.tuples(st.just("delete"), st.integers(0, 5)),
        st.tuples(st.just("restore"), st.integers(0, 5)),
        st.tuples(st.just("write"), names, bodies),
        st.tuples(st.just("move"), st.integers(0, 5), names),
        st.tuples(st.just("copy"), st.integers(0, 5), names),
        st.tuples(st.just("remove"), st.integers(0, 5)),
        st.tuples(st.just("list")),
        st.tuples(st.just("lose index")),
        st.tuples(st.just("damage index"), st.integers(0, 5000), st.binary(min_size=1, max_size=9)),
    ),
    max_size=14,
)


def _do(root: Path, tool: NoteTool, deleted: list[str], operation: tuple[Any, ...]) -> None:
    folder, index = root / "notes", root / ".ctx" / notes_index.FILE
    there = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
    name, *given_ = operation
    chosen = there[given_[0] % len(there)] if there and given_ and isinstance(given_[0], int) else None
    if name == "create":
        tool.run({"action": "create", "title": given_[0], "content": given_[1]})
    elif name in ("update", "tag") and chosen:
        change = {"title": given_[1]} if name == "update" else {"add_tags": [given_[1]], "append": "more"}
        tool.run({"action": "update", "note_id": str(chosen), **change})
    elif name == "delete" and chosen:
        deleted.append(tool.run({"action": "delete", "note_id": str(chosen)})["id"])
    elif name == "restore" and deleted:
        tool.run({"action": "restore", "note_id": deleted[given_[0] % len(deleted)]})
    elif name == "write":
        (folder / given_[0]).parent.mkdir(parents=True, exist_ok=True)
        (folder / given_[0]).write_text(given_[1], encoding="utf-8")
    elif name in ("move", "copy") and chosen:
        (folder / given_[1]).parent.mkdir(parents=True, exist_ok=True)
        if chosen != folder / given_[1]:
            (shutil.move if name == "move" else shutil.copy2)(chosen, folder / given_[1])
    elif name == "remove" and chosen:
        chosen.unlink()
    elif name == "list":
        tool.run({"action": "list"})
    elif name == "lose index":
        index.unlink(missing_ok=True)
    elif name == "damage index" and index.exists():
        data = bytearray(index.read_bytes())
        at = given_[0] % max(1, len(data))
        data[at : at + len(given_[1])] = given_[1]
        index.write_bytes(data)


def _rows(root: Path) -> dict[str, Row]:
    found = Notebook(workspace.find(root)).snapshot().rows
    return {path: row._replace(stamp=0, size=0) for path, row in found.items()}


@given(operations)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_index_after_any_operations_is_the_index_built_anew(steps: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        root, deleted = Path(place), []
        workspace.make(root)
        tool = NoteTool(root)
        for step in steps:
            with suppress(CtxError):  # such as a broken note that is not written
                _do(root, tool, deleted, step)
        kept = _rows(root)
        (root / ".ctx" / notes_index.FILE).unlink(missing_ok=True)
        assert kept == _rows(root)
        files = {path.relative_to(root / "notes").as_posix() for path in (root / "notes").rglob("*.[mM][dD]")}
        assert set(kept) == files


rows = st.builds(
    Row,
    path=st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=20),
    id=st.text(max_size=20),
    title=st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    type=st.text(max_size=10),
    created_at=st.just("2026-01-01T00:00:00+00:00"),
    updated_at=st.text(max_size=5),
    stamp=st.integers(0, 2**63),
    size=st.integers(0, 2**40),
    updated_ms=st.integers(0, 2**50),
    body=st.integers(0, 2**30),
    tags=st.lists(st.text(max_size=5), max_size=3),
    extra=st.dictionaries(st.text(max_size=5), st.one_of(st.none(), st.integers(), st.text(max_size=5)), max_size=2),
    odd=st.booleans(),
    problem=st.sampled_from(["", "3:broken"]),
)


@given(st.lists(rows, max_size=5), st.lists(rows, max_size=5), st.integers(0, 3))
@settings(deadline=None)
def test_what_is_written_and_appended_is_read_again(first: list[Row], second: list[Row], gone: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "index"
        wanted = {row.path: row for row in first}
        notes_index.write(file, wanted)
        for row in second:
            notes_index.append(file, [row])
            wanted[row.path] = row
        lost = list(wanted)[:gone]
        notes_index.append(file, gone=lost)
        for path in lost:
            del wanted[path]
        found = notes_index.load(file)
        assert (found.rows, found.damage) == (wanted, "")


@given(st.lists(rows, min_size=1, max_size=4), st.data())
@settings(deadline=None)
def test_any_damaged_byte_is_noticed(given_rows: list[Row], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "index"
        notes_index.write(file, {row.path: row for row in given_rows})
        whole = file.read_bytes()
        at = data.draw(st.integers(0, len(whole) - 1))
        byte = data.draw(st.integers(0, 255))
        if bytes([byte]) != whole[at : at + 1]:
            file.write_bytes(whole[:at] + bytes([byte]) + whole[at + 1 :])
            changed = notes_index.load(file)
            assert changed.damage or changed == notes_index.load(_whole(Path(place), whole))
        file.write_bytes(whole[:at])
        only_header = at == whole.index(b"\n") + 1  # an index without notes: they are found again on disk
        assert notes_index.load(file).damage or only_header


def _whole(place: Path, data: bytes) -> Path:
    """The undamaged index: a checksum in capitals says the same."""
    (place / "whole").write_bytes(data)
    return place / "whole"


def test_a_file_written_again_within_one_tick_of_the_clock_is_read_again(tmp_path: Path) -> None:
    workspace.make(tmp_path)
    note = tmp_path / "notes" / "a.md"
    note.parent.mkdir()
    tool = NoteTool(tmp_path)
    for number in range(30):
        note.write_text(f"---\ntitle: t{number:02}\n---\n")
        assert tool.run({"action": "list"})["notes"][0]["title"] == f"t{number:02}"


def test_the_index_is_compacted_now_and_then_and_its_lines_are_json(tmp_path: Path) -> None:
    workspace.make(tmp_path)
    tool = NoteTool(tmp_path)
    note = tool.run({"action": "create", "title": "x"})["id"]
    index = tmp_path / ".ctx" / notes_index.FILE
    for number in range(250):
        tool.run({"action": "update", "note_id": note, "title": f"x{number}"})
    assert all(json.loads(line) for line in index.read_text().splitlines())
    tool.run({"action": "list"})
    time.sleep(0.06)
    os.utime(tmp_path / "notes" / "x.md")
    tool.run({"action": "list"})
    assert len(index.read_text().splitlines()) < 60
