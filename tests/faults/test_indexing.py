"""Faults of the field that concern indexing, as real processes."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.run import COMMAND, Done, ctx, environment, start, write

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX modes and signals")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    write(folder, "docs/a.md", "# A\n\nabout apples\n")
    write(folder, "docs/sub/b.md", "# B\n\nabout bees\n")
    return folder


def indexed_paths(place: Path) -> list[str]:
    return [one["path"] for one in ctx(place, "kb", "files", "--json").json["files"] if one["status"] == "ok"]


def without_privilege(place: Path, *arguments: str) -> Done:
    """Run `ctx` as a user for whom modes count: root without the right to pass over them."""
    line = [*COMMAND, *arguments]
    if os.geteuid() == 0:
        line = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *line]
        if not shutil.which("setpriv"):
            pytest.skip("root passes over modes, and setpriv is not installed")
    done = subprocess.run(line, cwd=place, capture_output=True, text=True, env=environment(place), check=False)
    return Done(done.returncode, done.stdout, done.stderr)


@posix_only
def test_an_unreadable_folder_is_no_proof_that_its_files_are_gone(place: Path) -> None:
    assert without_privilege(place, "kb", "index", "docs").code == 0
    (place / "docs/sub").chmod(0)
    try:
        done = without_privilege(place, "kb", "index", "--json")
        assert done.code == 7, done.err
        assert '"code": "unreadable_folder"' in done.out
        assert '"removed": 0' in done.out
    finally:
        (place / "docs/sub").chmod(0o755)
    assert "docs/sub/b.md" in indexed_paths(place)
    assert without_privilege(place, "kb", "index").code == 0


@posix_only
def test_an_unreadable_file_is_listed_and_tried_again(place: Path) -> None:
    write(place, "docs/closed.md", "# Closed\n").chmod(0)
    done = without_privilege(place, "kb", "index", "docs", "--json")
    assert done.code == 7, done.err
    assert '"code": "unreadable_file"' in done.out
    (place / "docs/closed.md").chmod(0o644)
    assert without_privilege(place, "kb", "index").code == 0
    assert "docs/closed.md" in indexed_paths(place)


@posix_only
def test_a_workspace_that_cannot_be_written_is_an_error(place: Path) -> None:
    place.chmod(0o555)
    try:
        done = without_privilege(place, "kb", "index", "docs")
    finally:
        place.chmod(0o755)
    assert done.code == 5, done.err
    assert "Traceback" not in done.err
    assert done.err.startswith("error:")


@posix_only
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_run_leaves_the_former_index(how: signal.Signals, place: Path) -> None:
    assert ctx(place, "kb", "index", "docs").code == 0
    before = indexed_paths(place)
    for number in range(3000):
        write(place, f"docs/more/{number:05}.md", f"# Title {number}\n\n{'words and more words. ' * 30}\n")
    for pause in (0.3, 0.8, 1.5):
        process = start(place, "kb", "index")
        time.sleep(pause)
        os.killpg(process.pid, how)
        _, complaints = process.communicate()
        assert b"Traceback" not in complaints
        if process.returncode == 0:
            break
        assert process.returncode in ((130, -how) if how == signal.SIGINT else (-how,))  # -2: before Python was up
        assert indexed_paths(place) == before
    done = ctx(place, "kb", "index", "--json")
    assert done.code == 0
    assert len(indexed_paths(place)) == 3002
    assert ctx(place, "doctor").code == 0


@posix_only
def test_an_interrupted_first_run_leaves_nothing_that_stands_in_the_way(place: Path) -> None:
    for number in range(2000):
        write(place, f"docs/more/{number:05}.md", f"# Title {number}\n\n{'words and more words. ' * 30}\n")
    process = start(place, "kb", "index", "docs")
    time.sleep(0.8)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert ctx(place, "kb", "list").code in (0, 3)
    assert ctx(place, "kb", "index", "docs").code == 0
    assert len(indexed_paths(place)) == 2002


def test_a_second_writer_is_told_who_writes(place: Path) -> None:
    ctx(place, "init")
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time; from pathlib import Path; from ctxcli.storage.files import locked\n"
            "Path('.ctx/kb').mkdir()\n"
            "with locked(Path('.ctx/kb/.default.lock'), timeout=1, what='x'): print(1, flush=True); time.sleep(60)",
        ],
        cwd=place,
        stdout=subprocess.PIPE,
        env=environment(place),
    )
    assert holder.stdout
    holder.stdout.readline()
    done = ctx(place, "kb", "index", "docs", "--json", CTX_INDEX_LOCK_SECONDS="0.2")
    holder.kill()
    holder.communicate()
    assert done.code == 6
    assert done.json["error"]["code"] == "locked"
    assert f"pid {holder.pid}" in done.err
    assert ctx(place, "kb", "index", "docs").code == 0


def test_eight_first_runs_at_once_all_end_well(place: Path) -> None:
    processes = [start(place, "kb", "index", "docs", CTX_INDEX_LOCK_SECONDS="60") for _ in range(8)]
    for process in processes:
        _, complaints = process.communicate()
        assert process.returncode == 0, complaints
    assert indexed_paths(place) == ["docs/a.md", "docs/sub/b.md"]


def test_one_line_of_20_megabytes_is_indexed(place: Path) -> None:
    write(place, "docs/line.txt", "one long line 一行很长的文字 " * (20_000_000 // 38))
    done = ctx(place, "kb", "index", "docs", "--json")
    assert done.code == 0, done.err
    assert "docs/line.txt" in indexed_paths(place)


def test_bad_files_cost_themselves_only(place: Path) -> None:
    write(place, "docs/empty.md", b"")
    write(place, "docs/binary.txt", bytes(range(256)) * 100)
    write(place, "docs/zip.docx", b"PK\x03\x04 not really")
    write(place, "docs/cut.pdf", b"%PDF-1.7\n1 0 obj\n<<")
    write(place, "docs/random.pdf", os.urandom(5000))
    write(place, "docs/nul.md", b"a\0b\0c" * 1000)
    write(place, "docs/deep.json", b"[" * 200_000)
    write(place, "docs/deep.html", b"<div>" * 3_000)
    done = ctx(place, "kb", "index", "docs", "--json")
    assert done.code == 7
    assert "Traceback" not in done.err
    assert {"docs/a.md", "docs/sub/b.md"} <= set(indexed_paths(place))
    codes = {one["path"]: one["code"] for one in done.json["failures"]}
    assert "docs/cut.pdf" in codes
    assert "parser_failed" not in codes.values(), codes
    assert "crashed" not in codes.values(), codes


def test_a_moved_file_is_found_under_its_new_name_only(place: Path) -> None:
    ctx(place, "kb", "index", "docs")
    ids = {one["doc_id"] for one in ctx(place, "kb", "files", "--json").json["files"]}
    (place / "docs/a.md").rename(place / "docs/z.md")
    report = ctx(place, "kb", "index", "--json").json
    assert (report["files"]["moved"], report["files"]["indexed"], report["files"]["removed"]) == (1, 0, 0)
    assert indexed_paths(place) == ["docs/sub/b.md", "docs/z.md"]
    assert {one["doc_id"] for one in ctx(place, "kb", "files", "--json").json["files"]} == ids


def test_no_documents_at_all_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "w/empty").mkdir(parents=True)
    done = ctx(tmp_path / "w", "kb", "index", "empty", "--json")
    assert done.code == 0
    assert done.json["files"]["indexed"] == 0
    assert ctx(tmp_path / "w", "kb", "info", "--json").json["files"] == 0


@pytest.mark.slow
def test_forty_thousand_files_are_indexed_and_then_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    for number in range(40_000):
        write(folder, f"docs/{number % 200}/{number}.md", f"# {number}\n\ntext\n")
    assert ctx(folder, "kb", "index", "docs", "--json").json["files"]["indexed"] == 40_000
    assert ctx(folder, "kb", "index", "--json").json["files"]["unchanged"] == 40_000


@pytest.mark.parametrize("made", [[], [".hidden.md", "图.png"]])
def test_a_folder_without_documents_is_told(tmp_path: Path, made: list[str]) -> None:
    (tmp_path / "空 empty").mkdir()
    for name in made:
        write(tmp_path, f"空 empty/{name}", "x")
    done = ctx(tmp_path, "kb", "index", "空 empty")
    assert done.code == 0
    assert "no documents in 空 empty" in done.err


@pytest.mark.parametrize(
    "piece", ["<script>", "<!--", "<a ", '<a "', "<a'\"", '<a b="', "<a\"<b'", "<title", "<style></script>", "</", "<!"]
)
def test_markup_that_is_never_closed_is_read_once(tmp_path: Path, piece: str) -> None:
    write(tmp_path, "页面 page.html", "<p>水泵六点启动 the pump starts</p>" + piece * (1_000_000 // len(piece)))
    done = ctx(tmp_path, "kb", "index", "页面 page.html", "--json")
    assert (done.code, done.json["files"]["indexed"]) == (0, 1), "a pattern that tries anew at every < would not end"
