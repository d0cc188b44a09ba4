"""Mistakes on the command line and what is said about them."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.run import COMMAND, ctx, environment, write


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("usage") / "w"
    text = "# Pumps\n\nThe irrigation pump starts at six in the morning.\n\n"
    write(folder, "docs/a.md", text + "".join(f"## Part {n}\n\nPump {n} is described here.\n\n" for n in range(12)))
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    return folder


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (["ask", "x", "--tresh", "1"], "--threshold"),
        (["ask", "x", "--cites"], "--cite"),
        (["kb", "index", "--rebuilt"], "--rebuild"),
        (["kb", "search", "x", "--top", "3"], "--top-k"),
        (["check", "t.yml", "--junitt", "x"], "--junit"),
        (["--versoin"], "--version"),
    ],
)
def test_an_unknown_option_gets_the_nearest_as_a_hint(place: Path, arguments: list[str], near: str) -> None:
    done = ctx(place, *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[1] == f"hint: did you mean {near}?"
    assert ctx(place, *arguments, "--json").json["error"]["hint"] == f"did you mean {near}?"


def test_an_option_like_no_other_points_to_the_help(place: Path) -> None:
    assert "hint: see: ctx ask --help" in ctx(place, "ask", "x", "--qqq").err
    assert ctx(place, "ask", "x", "-Z").code == 2


def test_a_search_without_hits_says_so_beside_the_data(place: Path) -> None:
    done = ctx(place, "kb", "search", "zebra")
    assert (done.code, done.out, done.err) == (0, "", "no hits\n")
    assert ctx(place, "kb", "search", "zebra", "-q").err == ""
    assert ctx(place, "kb", "search", "zebra", "--json").err == ""


def test_an_unknown_chunk_says_where_ids_are_found(place: Path) -> None:
    done = ctx(place, "kb", "show", "nope:1")
    assert done.code == 3
    assert "--json" in done.err
    chunk = ctx(place, "kb", "search", "irrigation", "--json").json["hits"][0]["chunk_id"]
    assert "starts at six" in ctx(place, "kb", "show", chunk).out


def test_the_setting_top_k_is_the_default_of_the_option(place: Path) -> None:
    def ranked(*more: str, **environment: str) -> int:
        found = ctx(place, "ask", "Which pump is described?", "--evidence", "--json", *more, **environment)
        return len(found.json["evidence"])

    everything = ranked("--top-k", "99")
    assert ranked(CTX_ASK_TOP_K="1") == 1
    assert ranked("--top-k", "99", CTX_ASK_TOP_K="1") == everything


def test_a_changed_file_is_told_once_however_often_it_is_cited(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    pages = [
        f"# Vent {n}\n\nThe roof vent of house {n} opens at {n} degrees.\n\n" + "Filler words. " * 150 for n in (20, 30)
    ]
    write(folder, "docs/vents.md", "\n\n".join(pages))
    write(folder, "docs/else.md", "# Else\n\nNothing.\n")
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    write(folder, "docs/vents.md", "\n\n".join(pages) + "more\n")
    done = ctx(folder, "ask", "At how many degrees does the roof vent open?", "--threshold", "0")
    assert done.out.count("docs/vents.md ·") == 2
    assert done.err.count("docs/vents.md") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("kb", "search", "wind", "--doc", ""),
        ("kb", "search", "wind", "--section", ""),
        ("kb", "search", "风", "--kb", ""),
        ("kb", "search", "风", "-w", " "),
        ("kb", "info", "-w", ""),
        ("kb", "files", "--kb="),
        ("ask", "风?", "--kb", ""),
        ("ask", "风?", "--kb=a", "--kb="),
        ("ask", "wind?", "--from", ""),
        ("ask", "wind?", "--workspace", ""),
        ("ask", "--batch", ""),
        ("context", "build", "风", "--kb", ""),
        ("context", "build", "风", "-w", ""),
    ],
)
def test_an_empty_value_of_a_filter_is_refused_not_left_out(place: Path, arguments: tuple[str, ...]) -> None:
    done = ctx(place, *arguments, "--json")
    assert (done.code, bool(done.json["error"]["hint"])) == (2, True), done


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")
def test_a_stderr_that_takes_nothing_more_ends_no_work(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    write(folder, "docs/a.md", "# A\n\nThe pump starts at six.\n")
    (folder / "docs/broken.pdf").write_bytes(b"%PDF-1.7 broken")
    with FULL.open("w") as full:
        done = subprocess.run(
            [*COMMAND, "kb", "index", "docs"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=full,
            env=environment(folder),
            timeout=60,
            check=False,
        )
    assert done.returncode == 7
    assert done.stdout.startswith(b"default: 1 indexed")
