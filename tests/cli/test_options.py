"""Standard streams that are closed or full, and options of which one would be ignored, of processes."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.run import COMMAND, ctx, environment, write

QUESTION = "When does the irrigation pump start?"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    write(folder, "docs/manual.md", "# Manual\n\nThe irrigation pump starts at six in the morning.\n")
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    return folder


def closed(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    """Run `ctx` with a closed standard output."""
    return subprocess.run(
        ["sh", "-c", '"$@" >&-', "x", *COMMAND, *arguments],
        cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [("ask", QUESTION), ("ask", QUESTION, "--json"), ("kb", "list"), ("--version",), ("--help",), ("note", "list")],
)
def test_a_closed_standard_output_is_an_error(place: Path, arguments: tuple[str, ...]) -> None:
    done = closed(place, *arguments)
    assert (done.returncode, done.stderr.splitlines()[0]) == (5, b"error: standard output is closed")


def test_who_prints_nothing_needs_no_standard_output(place: Path) -> None:
    assert closed(place, "kb", "index", "-q").returncode == 0
    mistake = closed(place, "ask", "--nope", "--json")
    assert (mistake.returncode, mistake.stderr.splitlines()[0]) == (2, b"error: ctx ask has no option --nope")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 5), (["ask", "--nope", "--json"], 2)])
def test_a_full_standard_output_leaves_no_traceback(place: Path, arguments: list[str], code: int) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=place, env=environment(place), stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
            timeout=60, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr.count(b"error: "), b"Traceback" in done.stderr) == (code, 1, False)


def test_a_closed_standard_input_is_empty(place: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" <&-', "x", *COMMAND, "ask", "-"],
        cwd=place, env=environment(place), capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, b"error: the question is empty")


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "--batch", "q.jsonl", "--format", "md"),
        ("ask", "--batch", "q.jsonl", "--format=text"),
        ("ask", QUESTION, "--json", "--format", "md"),
        ("ask", QUESTION, "--json", "--format", "text"),
        ("ask", QUESTION, "--from", "docs/manual.md", "--kb", "default"),
        ("ask", QUESTION, "--from", "docs/manual.md", "--notes"),
        ("ask", QUESTION, "--from", "docs/manual.md", "--fusion", "rrf"),
        ("ask", "-", "--from", "-"),
        ("ask", "--batch", "-", "--from", "-"),
        ("ask", QUESTION, "--fusion", "rrf"),
        ("ask", QUESTION, "--fusion", "rrf", "--mode", "bm25"),
        ("kb", "search", QUESTION, "--fusion", "scores"),
        ("kb", "search", QUESTION, "--fusion", "scores", "--mode", "vector"),
        ("kb", "eval", "q.jsonl", "--fusion", "rrf"),
        ("context", "build", QUESTION, "--kb", "default", "--no-kb"),
        ("context", "build", QUESTION, "--kb", "default", "--no-kb", "--json"),
    ],
)
def test_of_two_options_none_is_ignored(place: Path, arguments: tuple[str, ...]) -> None:
    write(place, "q.jsonl", json.dumps({"id": "1", "question": QUESTION}) + "\n")
    done = ctx(place, *arguments)
    assert done.code == 2
    assert done.json["error"]["code"] == "usage" if "--json" in arguments else not done.out
    assert "hint: " in done.err


def test_options_that_say_the_same_go_together(place: Path) -> None:
    write(place, "q.jsonl", json.dumps({"id": "1", "question": QUESTION}) + "\n")
    for more in (["--json"], ["--format", "json"], ["--json", "--format", "json"], ["--cite"]):
        assert ctx(place, "ask", "--batch", "q.jsonl", *more).json["id"] == "1"
    assert ctx(place, "context", "build", QUESTION, "--json", "--format", "json").json["schema"] == "ctx/context/1"
    found = ctx(place, "ask", QUESTION, "--from", "docs/manual.md", "--no-notes", "--mode", "keyword", "--json")
    assert (found.code, found.json["method"]) == (0, "extractive")
