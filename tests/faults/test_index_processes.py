"""Readers and writers of an index in several processes; writers that are killed."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ctxcli.index import embedded
from ctxcli.index.embedded import EmbeddedReader, open_writer
from tests.cli.run import ctx, environment, write
from tests.unit.index.made import SETTINGS, made

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

WRITER = """
import sys
from pathlib import Path
from ctxcli.index.embedded import open_writer
from tests.unit.index.made import SETTINGS, made
folder, first = Path(sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
for round in range(first, first + int(sys.argv[3])):
    writer = open_writer(folder, SETTINGS)
    assert writer.begun_anew == "", writer.begun_anew
    for n in range(8):
        writer.put(*made(f"docs/{n}.md", f"# File {n}\\n\\nround{round} pump {'word ' * round}\\n"))
    writer.commit(["docs"])
    print(round, flush=True)
"""


def put_round(folder: Path, number: int) -> None:
    writer = open_writer(folder, SETTINGS)
    for n in range(8):
        writer.put(*made(f"docs/{n}.md", f"# File {n}\n\nround{number} pump {'word ' * number}\n"))
    writer.commit(["docs"])


def seen(folder: Path) -> set[str]:
    """The rounds of which an open index has something; every count in it must agree."""
    reader = EmbeddedReader(folder)
    chunks = list(reader.all_chunks())
    files = reader.files()
    assert len(chunks) == len(files) == reader.stats["chunks"] == reader.document_frequency("pump") == 8
    assert {chunk.key.rpartition(":")[0] for chunk in chunks} == {record.doc_id for record in files}
    return {term for chunk in chunks for term in chunk.terms.split() if term[:5] == "round" and term[5:]}


def start(folder: Path, first: int, rounds: int) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(first), str(rounds)],
        stdout=subprocess.PIPE,
        env=environment(folder),
    )
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    return process


def test_a_reader_sees_the_old_or_the_new_never_a_mix(tmp_path: Path) -> None:
    folder = tmp_path / "index-1"
    put_round(folder, 1)
    process = start(folder, 2, 25)
    rounds = []
    while process.poll() is None:
        found = seen(folder)
        assert len(found) == 1, "a mix of two commits"
        rounds.append(int(found.pop().removeprefix("round")))
    assert process.communicate() and process.returncode == 0
    assert rounds == sorted(rounds)
    assert len(set(rounds)) > 3, "the writer was watched while it wrote"
    assert seen(folder) == {"round26"}


def test_a_generation_that_is_swept_while_it_is_opened_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "index-1"
    put_round(folder, 1)
    old = embedded.generation(folder)
    kept = shutil.copytree(old, tmp_path / "kept")
    put_round(folder, 2)
    new = embedded.generation(folder)
    shutil.copytree(kept, old)
    for path in old.glob("*.pos"):
        path.unlink()
    named = iter([old])
    monkeypatch.setattr(embedded, "generation", lambda _: next(named, new))
    assert seen(folder) == {"round2"}


def test_an_index_where_nothing_can_be_written_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "index-1"
    put_round(folder, 1)
    lock = embedded.generation(folder) / ".tantivy-meta.lock"
    lock.unlink()
    lock.mkdir()  # stands for a file system that is mounted read-only: the engine cannot open its lock
    before = sorted(folder.rglob("*"))
    assert seen(folder) == {"round1"}
    assert sorted(folder.rglob("*")) == before


@posix_only
def test_a_killed_writer_leaves_the_last_commit(tmp_path: Path) -> None:
    folder = tmp_path / "index-1"
    put_round(folder, 1)
    chance = random.Random(3)
    done = 1
    for _ in range(12):
        process = start(folder, done + 1, 1000)
        time.sleep(chance.random() * 0.15)
        process.send_signal(signal.SIGKILL)
        said = process.communicate()[0].split()
        done = max(done, *map(int, said)) if said else done
        [found] = seen(folder)
        assert int(found.removeprefix("round")) in (done, done + 1), "of a commit that was not told yet, or of the last"
        done = int(found.removeprefix("round"))
    writer = open_writer(folder, SETTINGS)
    assert writer.begun_anew == ""
    writer.put(*made("docs/9.md", "# Nine\n\npump\n"))
    writer.commit(["docs"])
    assert EmbeddedReader(folder).document_frequency("pump") == 9
    left = [path for path in folder.iterdir() if path.is_dir()]
    assert len(left) == 1, "what killed writers left is removed"


LIMITED = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
sys.argv = ["ctx", *sys.argv[1:]]
runpy.run_module("ctxcli", run_name="__main__")
"""


@posix_only
def test_a_disk_that_takes_nothing_more_is_said_and_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    write(folder, "docs/old.md", "# Old\n\nThe old pump starts at six.\n")
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    chance = random.Random(5)
    for number in range(40):
        words = " ".join(f"w{chance.randrange(10**9)}" for _ in range(300))
        write(folder, f"docs/{number}.md", f"# New {number}\n\n{words}\n")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, "kb", "index", "--json"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(folder, PYTHONDONTWRITEBYTECODE="1"),
        timeout=60,
        check=False,
    )
    assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (5, "unwritable"), done.stderr
    assert ctx(folder, "ask", "When does the old pump start?").code == 0
    assert ctx(folder, "kb", "index", "--json").json["files"]["indexed"] == 40
