"""Notes under many hands at once, killed writers, damaged indexes: nothing is lost, nothing half-written."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ctxcli import NoteTool
from tests.cli.run import ctx, environment, start
from tests.faults.test_notes import VAULT, place

__all__ = ["place"]


@pytest.mark.parametrize("rounds", [5])
def test_eight_processes_that_create_at_once_lose_nothing(place: Path, rounds: int) -> None:
    script = (
        "import sys; from ctxcli import NoteTool; tool = NoteTool('.')\n"
        f"for n in range({rounds}):\n"
        "    print(tool.run({'action': 'create', 'title': 'same', 'content': sys.argv[1] + str(n)})['id'])"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, f"p{n}-"], cwd=place, stdout=subprocess.PIPE, env=environment(place)
        )
        for n in range(8)
    ]
    ids = [line for process in processes for line in process.communicate(timeout=120)[0].decode().split()]
    assert len(set(ids)) == 8 * rounds
    found = ctx(place, "note", "list", "--json").json
    assert {note["id"] for note in found["notes"]} == set(ids)
    bodies = {NoteTool(place).run({"action": "read", "note_id": one})["content"] for one in ids}
    assert len(bodies) == 8 * rounds


def test_commands_in_parallel_create_update_and_delete_without_loss(place: Path) -> None:
    shared = ctx(place, "note", "create", "shared").out.strip()
    doomed = [ctx(place, "note", "create", f"d{n}").out.strip() for n in range(4)]
    commands = [
        *(["create", f"n{n}", "--content", str(n)] for n in range(12)),
        *(["update", shared, "--append", f"line {n}", "--add-tag", f"t{n}"] for n in range(12)),
        *(["delete", one, "--yes"] for one in doomed),
    ]
    random.Random(1).shuffle(commands)
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda arguments: ctx(place, "note", *arguments), commands))
    assert [one for one in done if one.code] == []
    note = ctx(place, "note", "show", shared, "--json").json
    assert sorted(note["content"].split("\n")) == sorted(f"line {n}" for n in range(12))
    assert sorted(note["tags"]) == sorted(f"t{n}" for n in range(12))
    assert ctx(place, "note", "list", "--json").json["total"] == 13
    assert ctx(place, "note", "list", "--trash", "--json").json["total"] == 4


def test_a_damaged_index_is_kept_aside_built_anew_and_said(place: Path) -> None:
    for number in range(3):
        ctx(place, "note", "create", f"n{number}")
    index = place / ".ctx/notes-index.jsonl"
    whole = index.read_bytes()
    for damage in (
        b'{"notes": [',
        os.urandom(500),
        b"",
        whole[: len(whole) // 2],
        whole[:-3],
        whole.replace(b"n1", b"x1"),
        b"{}\n",
        b"\0" * 99,
    ):
        index.write_bytes(damage)
        ctx(place, "note", "create", "while damaged")
        done = ctx(place, "note", "list", "--json")
        assert done.code == 0
        assert "built anew" in done.err or not damage
        total = done.json["total"]
        assert (place / ".ctx/notes-index.jsonl.damaged").exists() or not damage
        again = ctx(place, "note", "list", "--json")
        assert (again.err, again.json["total"]) == ("", total)
    index.unlink()
    index.mkdir()
    done = ctx(place, "note", "list", "--json")
    assert (done.code, done.json["total"]) == (0, total)


def test_killed_writers_leave_no_half_note_and_lose_none(place: Path) -> None:
    content = "内容 " * 20_000
    made = "'内容 ' * 20_000"
    script = (
        "import sys; from ctxcli import NoteTool; tool = NoteTool('.'); n = 0\n"
        "while True:\n"
        f"    note = tool.run({{'action': 'create', 'title': f'k{{n}}', 'content': {made}}})['id']\n"
        "    print(note, flush=True)\n"
        "    tool.run({'action': 'update', 'note_id': note, 'append': 'END'})\n"
        "    n += 1\n"
    )
    random_ = random.Random(7)
    told: set[str] = set()
    for _ in range(14):
        process = subprocess.Popen(
            [sys.executable, "-c", script], cwd=place, stdout=subprocess.PIPE, env=environment(place)
        )
        time.sleep(0.25 + random_.random() * 0.5)
        os.kill(process.pid, signal.SIGKILL)
        out = process.communicate()[0].decode()
        told |= {line for line in out.split("\n")[:-1] if line}
    found = ctx(place, "note", "list", "--limit", "0", "--json").json["notes"]
    assert told <= {note["id"] for note in found}
    assert told
    for note in found:
        body = NoteTool(place).run({"action": "read", "note_id": note["id"]})["content"]
        assert body in (content, content + "\nEND")
    assert ctx(place, "note", "create", "after").code == 0
    assert ctx(place, "note", "check").code == 0


def test_a_killed_command_leaves_the_lock_free(place: Path) -> None:
    random_ = random.Random(3)
    for number in range(8):
        process = start(place, "note", "create", f"c{number}", "--content", "x" * 100_000)
        time.sleep(random_.random() * 0.4)
        process.kill()
        process.communicate()
    begun = time.monotonic()
    assert ctx(place, "note", "create", "last").code == 0
    assert time.monotonic() - begun < 30
    for note in ctx(place, "note", "list", "--json").json["notes"]:
        size = len(ctx(place, "note", "show", note["id"], "--json").json["content"])
        assert size == (0 if note["title"] == "last" else 100_000)


def test_eight_first_commands_at_once_all_work(place: Path) -> None:
    shutil.copytree(VAULT, place / "notes")
    processes = [start(place, "note", "list", "--json", "--limit", "0") for _ in range(8)]
    outs = [process.communicate(timeout=120)[0] for process in processes]
    assert {process.returncode for process in processes} == {0}
    assert len({json.loads(out)["total"] for out in outs}) == 1
