"""`ctx kb` as a process."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ctxcli.storage.files import locked
from tests.cli.run import COMMAND, Done, ctx, environment, start, write


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    write(folder, "docs/alpha.md", "# Alpha\n\n## 1.1 Apples\n\nAbout apples.\n")
    write(folder, "docs/乙.md", "# 乙\n\n关于苹果。\n")
    return folder


@pytest.fixture
def indexed(place: Path) -> Path:
    assert ctx(place, "kb", "index", "docs").code == 0
    return place


def error_of(done: Done) -> str:
    assert "Traceback" not in done.err
    return str(done.json["error"]["code"])


def test_index_makes_a_workspace_and_says_so(place: Path) -> None:
    done = ctx(place, "kb", "index", "docs")
    assert done.code == 0
    assert done.out.startswith("default: 2 indexed, 0 unchanged;")
    assert "workspace" in done.err
    assert (place / ".ctx/kb/default/kb.json").exists()


def test_the_index_report_has_its_fields(place: Path) -> None:
    write(place, "docs/broken.pdf", b"%PDF-1.4 broken")
    write(place, "docs/picture.png", b"\x89PNG")
    done = ctx(place, "kb", "index", "docs", "--json")
    assert done.code == 7
    report = done.json
    assert report["schema"] == "ctx/index-report/1"
    assert (report["kb"], report["root"]) == ("default", "docs")
    assert report["files"] == {"indexed": 2, "unchanged": 0, "removed": 0, "failed": 1, "skipped": 1, "moved": 0}
    assert report["chunks"] > 0
    assert report["elapsed_s"] >= 0
    [failure] = report["failures"]
    assert failure["path"] == "docs/broken.pdf"
    assert failure["code"] and failure["message"]
    assert report["warnings"] == []


def test_a_failed_file_is_listed_again_and_makes_the_code_7_again(place: Path) -> None:
    write(place, "docs/broken.pdf", b"%PDF-1.4 broken")
    assert ctx(place, "kb", "index", "docs").code == 7
    again = ctx(place, "kb", "index")
    assert again.code == 7
    assert "docs/broken.pdf" in again.err
    failed = ctx(place, "kb", "files", "--failed", "--json").json
    assert [one["path"] for one in failed["files"]] == ["docs/broken.pdf"]
    (place / "docs/broken.pdf").unlink()
    assert ctx(place, "kb", "index").code == 0
    assert ctx(place, "kb", "files", "--failed", "--json").json["files"] == []


def test_lists_are_documents_also_when_empty(place: Path) -> None:
    assert ctx(place, "init").code == 0
    done = ctx(place, "kb", "list", "--json")
    assert done.code == 0
    assert done.json == {"schema": "ctx/kbs/1", "knowledge_bases": []}


def test_list_info_and_files(indexed: Path) -> None:
    [kb] = ctx(indexed, "kb", "list", "--json").json["knowledge_bases"]
    info = ctx(indexed, "kb", "info", "--json").json
    assert {"schema": "ctx/kb/1", **kb} == info
    assert (info["files"], info["roots"][0]["path"]) == (2, "docs")
    files = ctx(indexed, "kb", "files", "--json").json
    assert [one["path"] for one in files["files"]] == ["docs/alpha.md", "docs/乙.md"]
    assert "乙" in ctx(indexed, "kb", "files").out
    assert "docs" in ctx(indexed, "kb", "list").out


def test_outline_and_show(indexed: Path) -> None:
    outline = ctx(indexed, "kb", "outline", "docs/alpha.md", "--json").json
    assert [one["section"] for one in outline["sections"]] == [None, "1.1"]
    assert ctx(indexed / "docs", "kb", "outline", "alpha.md", "--json").json == outline
    record = ctx(indexed, "kb", "files", "--json").json["files"][0]
    shown = ctx(indexed, "kb", "show", f"{record['doc_id']}:0", "--json").json
    assert shown["doc"] == "docs/alpha.md"
    assert "About apples." in shown["text"]
    assert shown["chunk_id"] == ctx(indexed, "kb", "show", f"{record['doc_id'][:6]}:0", "--json").json["chunk_id"]


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        (["kb", "info", "none"], 3, "kb_not_found"),
        (["kb", "files", "--kb", "none"], 3, "kb_not_found"),
        (["kb", "show", "nothing:0"], 3, "chunk_not_found"),
        (["kb", "outline", "none.md"], 3, "doc_not_found"),
        (["kb", "remove", "none", "--yes"], 3, "kb_not_found"),
        (["kb", "remove", "default"], 2, "usage"),
        (["kb", "index", "nowhere"], 3, "path_not_found"),
        (["kb", "index", "docs", "--kb", "../x"], 2, "bad_kb_name"),
        (["kb", "index", "--jobs", "many"], 2, "usage"),
        (["kb", "index", "--no-such-option"], 2, "usage"),
        (["kb", "nothing"], 2, "usage"),
        (["nothing"], 2, "usage"),
        (["kb", "show"], 2, "usage"),
        (["kb", "info", "-w", "docs"], 3, "no_workspace"),
    ],
)
def test_mistakes_are_one_line_one_document_and_a_code(
    arguments: list[str], code: int, name: str, indexed: Path
) -> None:
    done = ctx(indexed, *arguments, "--json")
    assert done.code == code
    assert error_of(done) == name
    assert done.json["schema"] == "ctx/error/1"
    plain = ctx(indexed, *arguments)
    assert plain.code == code
    assert plain.out == ""
    assert plain.err.startswith("error: ")
    assert plain.err.count("\n") <= 2


def test_without_a_workspace_the_way_out_is_told(tmp_path: Path) -> None:
    done = ctx(tmp_path, "kb", "list")
    assert done.code == 3
    assert "ctx init" in done.err


def test_an_error_before_a_workspace_makes_none(place: Path) -> None:
    assert ctx(place, "kb", "index", "nowhere").code == 3
    assert ctx(place, "kb", "index", "docs", "--kb", "a/b").code == 2
    assert ctx(place, "kb", "index", "docs", "--dry-run").code == 0
    assert not (place / ".ctx").exists()


def test_remove_needs_yes_and_keeps_the_documents(indexed: Path) -> None:
    assert ctx(indexed, "kb", "remove", "default").code == 2
    assert ctx(indexed, "kb", "remove", "default", "--yes", "--json").json["files"] == 2
    assert (indexed / "docs/alpha.md").exists()
    assert ctx(indexed, "kb", "list", "--json").json["knowledge_bases"] == []


def test_quiet_says_nothing_but_failures(place: Path) -> None:
    done = ctx(place, "kb", "index", "docs", "--quiet")
    assert (done.out, done.err) == ("", "")
    write(place, "docs/broken.pdf", b"%PDF-1.4 broken")
    done = ctx(place, "kb", "index", "-q")
    assert done.code == 7
    assert "docs/broken.pdf" in done.err


def test_a_dry_run_tells_what_would_be_done(indexed: Path) -> None:
    write(indexed, "docs/new.md", "# New\n")
    (indexed / "docs/alpha.md").unlink()
    preview = ctx(indexed, "kb", "index", "--dry-run", "--json").json
    assert preview["new"] == ["docs/new.md"]
    assert preview["removed"] == ["docs/alpha.md"]
    assert len(ctx(indexed, "kb", "files", "--json").json["files"]) == 2


def test_the_workspace_can_be_named(indexed: Path, tmp_path: Path) -> None:
    assert ctx(tmp_path, "kb", "info", "-w", str(indexed), "--json").json["files"] == 2
    assert ctx(tmp_path, "kb", "info", "--json", CTX_WORKSPACE=str(indexed)).json["files"] == 2
    assert ctx(indexed / "docs", "kb", "info", "--json").json["files"] == 2


def test_include_and_exclude_are_patterns(place: Path) -> None:
    write(place, "docs/log.txt", "words")
    assert (
        ctx(place, "kb", "index", "docs", "--include", "*.md", "--exclude", "乙*", "--json").json["files"]["indexed"]
        == 1
    )


def test_nothing_in_a_pipe_has_escape_codes(place: Path) -> None:
    write(place, "docs/\x1b[31mred\x1b[0m.md", "# \x1b[31mred\n")
    for arguments in (["kb", "index", "docs"], ["kb", "files"], ["kb", "list"], ["--help"], ["kb", "index", "--help"]):
        done = ctx(place, *arguments)
        assert "\x1b" not in done.out + done.err


def test_markup_in_a_name_is_text(place: Path) -> None:
    write(place, "docs/[bold]x[/bold].md", "# [red]title[/]\n\ntext\n")
    ctx(place, "kb", "index", "docs")
    for more in ({}, {"FORCE_COLOR": "1", "COLUMNS": "200"}):
        assert "[bold]x[/bold].md" in ctx(place, "kb", "files", **more).out


def test_json_is_one_line_at_any_width(indexed: Path) -> None:
    write(indexed, "docs/long.md", f"# a [bold]x[/] {'long ' * 30}\n\ntext\n")
    ctx(indexed, "kb", "index")
    files = ctx(indexed, "kb", "files", "--json", COLUMNS="20", FORCE_COLOR="1").json["files"]
    assert any("[bold]x[/]" in one["title"] for one in files)


@pytest.mark.parametrize("more", [{"PYTHONIOENCODING": "gbk"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "POSIX"}])
def test_any_locale_prints_utf8(more: dict[str, str], place: Path) -> None:
    write(place, "docs/•©🙂.md", "# •©🙂 标题\n\ntext\n")
    report = ctx(place, "kb", "index", "docs", "--json", **more)
    assert report.code == 0, report.err
    assert any(one["title"] == "•©🙂 标题" for one in ctx(place, "kb", "files", "--json", **more).json["files"])
    assert "•©🙂 标题" in ctx(place, "kb", "files", **more).out


def test_a_closed_pipe_ends_quietly(indexed: Path) -> None:
    for number in range(3000):
        write(indexed, f"docs/more/{number:05}.md", f"# {number}\n")
    ctx(indexed, "kb", "index", "-q")
    process = start(indexed, "kb", "files")
    assert process.stdout and process.stderr
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0


def test_on_a_terminal_there_is_progress_and_then_nothing_of_it(place: Path) -> None:
    for number in range(50):
        write(place, f"docs/more/{number:05}.md", f"# {number}\n")
    main, terminal = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "kb", "index", "docs", "--json"],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=terminal,
        env=environment(place, TERM="xterm"),
    ) as process:
        os.close(terminal)
        shown = b""
        while select.select([main], [], [], 30)[0]:
            try:
                shown += os.read(main, 65536)
            except OSError:
                break
        assert process.stdout
        out = process.stdout.read()
    os.close(main)
    assert b"52/52" in shown
    assert out.startswith(b'{"schema"')
    assert b"\x1b" not in out


def test_help_names_every_command(tmp_path: Path) -> None:
    out = ctx(tmp_path, "kb", "--help").out
    for name in ("index", "list", "info", "files", "show", "outline", "remove"):
        assert f"  {name} " in out
    assert ctx(tmp_path).code == 0
    assert "Exit codes" in ctx(tmp_path).out


def test_an_error_of_ours_is_one_line_and_code_1(place: Path) -> None:
    ctx(place, "init")
    code = (
        "import sys; from ctxcli.cli import app; from ctxcli.services import knowledge\n"
        "def broken(*_): raise ZeroDivisionError('oops')\n"
        "knowledge.list_all = broken\n"
        "sys.exit(app.run(sys.argv[1:]))"
    )
    line = [COMMAND[0], "-c", code, "kb", "list", "--json"]
    done = subprocess.run(line, cwd=place, capture_output=True, text=True, env=environment(place), check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert '"code": "bug"' in done.stdout
    debug = environment(place, CTX_DEBUG="1")
    done = subprocess.run(line, cwd=place, capture_output=True, text=True, env=debug, check=False)
    assert "ZeroDivisionError: oops" in done.stderr
    assert "Traceback" in done.stderr


def test_watch_indexes_what_changes_until_it_is_interrupted(place: Path) -> None:
    process = start(place, "kb", "index", "docs", "--watch", "--json")
    assert process.stdout
    assert json.loads(process.stdout.readline())["files"]["indexed"] == 2
    write(place, "docs/new.md", "# New\n")
    assert json.loads(process.stdout.readline())["files"]["indexed"] == 1
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130


def test_watch_waits_for_a_folder_that_has_gone(place: Path) -> None:
    process = start(place, "kb", "index", "docs", "--watch", "--json")
    assert process.stdout
    assert process.stderr
    assert json.loads(process.stdout.readline())["files"]["indexed"] == 2
    assert [process.stderr.readline().split()[0] for _ in range(2)] == [b"made", b"watching;"]
    (place / "docs").rename(place / "away")
    assert b"docs does not exist; waiting for it" in process.stderr.readline()
    (place / "away").rename(place / "docs")
    write(place, "docs/new.md", "# New\n")
    report = json.loads(process.stdout.readline())
    assert (report["files"]["indexed"], report["files"]["removed"]) == (1, 0)
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130


def test_watch_goes_on_when_another_has_the_lock_for_a_while(place: Path) -> None:
    process = start(place, "kb", "index", "docs", "--watch", "--json", CTX_INDEX_LOCK_SECONDS="0.1")
    assert process.stdout
    assert process.stderr
    assert json.loads(process.stdout.readline())["files"]["indexed"] == 2
    assert [process.stderr.readline().split()[0] for _ in range(2)] == [b"made", b"watching;"]
    with locked(place / ".ctx" / "kb" / ".default.lock", timeout=5, what="the knowledge base"):
        write(place, "docs/新.md", "# 新\n\n水泵六点启动。\n")
        assert b"trying again" in process.stderr.readline()
    assert json.loads(process.stdout.readline())["files"]["indexed"] == 1
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130


def test_a_file_named_in_bytes_that_are_no_utf8_does_not_stop_the_run(place: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(place) + b"/docs/caf\xe9.md")).write_text("# x\n")
    except OSError:
        pytest.skip("the file system refuses such names")
    done = ctx(place, "kb", "index", "docs", "--json")
    assert done.code == 7
    assert [(one["path"], one["code"]) for one in done.json["failures"]] == [("docs/caf\\xe9.md", "name_not_utf8")]
    assert done.json["files"]["indexed"] == 2


def test_a_device_becomes_no_root(place: Path) -> None:
    done = ctx(place, "kb", "index", os.devnull, "--json")
    assert (done.code, done.json["error"]["code"]) == (3, "path_not_found")
    assert ctx(place, "kb", "index", "docs").code == 0


FORMERLY = """
import runpy, sys
from ctxcli.text import analyzer
analyzer.VERSION = "0"
sys.argv = ["ctx", "kb", "index", "docs", "--kb", "old", "-q"]
runpy.run_module("ctxcli", run_name="__main__")
"""


def test_an_index_of_another_version_is_named_with_what_to_do(place: Path) -> None:
    line = [sys.executable, "-c", FORMERLY]
    subprocess.run(line, cwd=place, capture_output=True, env=environment(place), check=True)
    assert ctx(place, "kb", "index", "docs", "--kb", "new").code == 0
    done = ctx(place, "ask", "When does the pump start?")
    assert done.code == 5
    assert "the index of 'old' was made by another version of ctx" in done.err
    assert "ctx kb index --kb old" in done.err
    assert ctx(place, "kb", "index", "--kb", "old").code == 0
    assert ctx(place, "ask", "When does the pump start?").code in {0, 4}
