"""What a terminal of some width shows: whole words, whole paths, colour where it says something."""

import re
from pathlib import Path

import pytest

from ctxcli.cli.wrapping import columns
from tests.cli.run import ctx, on_terminal, write

_ENGLISH = (
    "# Power\n\nThe emergency generator starts within twenty seconds and carries the vents, the pumps and the "
    "emergency lights, but neither the lamps nor the fog system. Its tank lasts thirty-six hours at normal load.\n"
)
_CHINESE = (
    "# 校准\n\n二氧化碳传感器采用两点校准：先通入四百毫升的标准气体，再通入一千毫升的标准气体，每种气体通气五分钟，"
    "待读数稳定后按下确认键（见附录）。校准应在通风窗关闭、人员离开该区后进行，避免呼吸影响读数。\n"
)
_STYLE = re.compile(r"\x1b\[[\d;]*m")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    write(folder, "docs/handbook/emergency-power-supply-manual.md", _ENGLISH)
    write(folder, "docs/handbook/校准.md", _CHINESE)
    assert ctx(folder, "kb", "index", "docs").code == 0
    return folder


def _lines(folder: Path, *arguments: str, width: int = 60, **more: str) -> list[str]:
    done = on_terminal(folder, *arguments, COLUMNS=str(width), LINES="40", **more)
    return [_STYLE.sub("", line).rstrip("\r") for line in done.out.split("\n")]


def test_an_answer_is_broken_between_words_and_its_number_is_not_left_alone(place: Path) -> None:
    lines = _lines(place, "ask", "How long does the tank of the generator last?")
    answer = lines[: lines.index("")]
    assert len(answer) > 2
    assert all(columns(line) <= 60 for line in answer)
    assert set(" ".join(answer).split()) <= {*_ENGLISH.split(), "[1]"}
    assert not any(line.startswith("[1]") for line in answer)


def test_chinese_takes_two_columns_and_no_line_begins_with_a_closing_mark(place: Path) -> None:
    lines = _lines(place, "ask", "二氧化碳传感器怎样校准？", "--cite", width=40)
    quote = [line for line in lines if line.startswith("    ")]
    assert len(quote) > 2
    assert all(columns(line) <= 40 and line[4] not in "，。、；：）" for line in quote)
    assert "".join(line.strip() for line in quote) == _CHINESE.split("\n")[2]


def test_a_wrapped_answer_can_be_verified(place: Path) -> None:
    for question in ("How long does the tank of the generator last?", "二氧化碳传感器怎样校准？"):
        write(place, "answer.txt", "\n".join(_lines(place, "ask", question, "--cite", width=70)))
        done = ctx(place, "verify", "answer.txt")
        assert (done.code, done.out[:8]) == (0, "[1] ok  "), done.out


def test_off_a_terminal_nothing_is_wrapped(place: Path) -> None:
    done = ctx(place, "ask", "How long does the tank of the generator last?", COLUMNS="40")
    assert _ENGLISH.split("\n")[2] + " [1]" in done.out.split("\n")


def test_a_narrow_table_of_files_keeps_whole_paths(place: Path) -> None:
    lines = _lines(place, "kb", "files", width=64)
    assert any(line.startswith("docs/handbook/emergency-power-supply-manual.md ") for line in lines)
    assert "title" not in lines[0]
    assert "title" in _lines(place, "kb", "files", width=140)[0]


def test_a_narrow_list_of_notes_shows_the_titles(place: Path) -> None:
    title = "The session timeout of the portal is decided"
    ctx(place, "note", "create", title, "--tag", "portal", "--tag", "a-rather-long-tag")
    for width in (50, 80):
        assert any(title[:20] in line for line in _lines(place, "note", "list", width=width))
    assert "a-rather-long-tag" in "".join(_lines(place, "note", "list", width=140))


def test_doctor_colours_the_verdict_alone(place: Path) -> None:
    out = on_terminal(place, "doctor", COLUMNS="80").out
    assert "\x1b[32mok\x1b[0m       python: " in out
    assert "\x1b" not in on_terminal(place, "doctor", COLUMNS="80", NO_COLOR="1").out


def test_an_empty_list_says_so(place: Path) -> None:
    for what, *command in (("facts", "fact"), ("artifacts", "fact", "artifact"), ("sessions", "session")):
        done = ctx(place, *command, "list")
        assert (done.code, done.out, done.err) == (0, "", f"no {what}\n")
        assert ctx(place, *command, "list", "--quiet").err == ""


def test_a_bar_fits_the_terminal_and_is_gone_at_the_end(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    for number in range(60):
        write(folder, f"docs/{number}-一个很长的文件名用来看看进度条会不会超出终端的宽度.md", _CHINESE)
    out = on_terminal(folder, "kb", "index", "docs", "--jobs", "1", COLUMNS="80").out
    bars = [_STYLE.sub("", part) for part in re.split(r"\r\x1b\[2K|\r?\n", out) if "/60" in part]
    assert bars
    assert all(columns(bar.rstrip()) <= 76 for bar in bars)
    assert all(re.search(r" \d+/60 .*\d:\d\d:\d\d|-:--:--", bar) for bar in bars)
    assert re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", out.rpartition("\x1b[2K")[2]).startswith("default: 60 indexed")


def test_the_evidence_is_broken_between_words(place: Path) -> None:
    lines = _lines(place, "ask", "How long does the tank of the generator last?", "--evidence", width=66)
    rank = next(at for at, line in enumerate(lines) if line.startswith(" 1. "))
    assert lines[rank + 1].startswith(" " * 10)
    assert all(columns(line) <= 66 for line in lines)
