"""Notes with awkward values, ids and neighbours: nothing is lost, and each is named with a way out."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.run import COMMAND, ctx, environment, write
from tests.cli.test_notes import create, fed, place

__all__ = ["place"]


def problems(place: Path, *more: str) -> dict[str, dict[str, object]]:
    """What `ctx note check` finds, by code."""
    return {one["code"]: one for one in ctx(place, "note", "check", *more, "--json").json["problems"]}


@pytest.mark.parametrize("value", ["{甲: 乙}", "[a, {b: 丙}]", "\n- a\n- [b]"])
@pytest.mark.parametrize("option", ["--add-tag", "--remove-tag", "--tag"])
def test_tags_that_are_not_understood_are_refused_with_their_line(place: Path, value: str, option: str) -> None:
    path = write(place, "notes/a.md", f"---\ntitle: t\ntags: {value}\n---\n正文\n")
    before = path.read_bytes()
    done = ctx(place, "note", "update", "notes/a.md", option, "x", "--json")
    assert (done.code, done.json["error"]["code"]) == (5, "cannot_patch")
    assert f"notes/a.md:{3 + value.count('- a')}:" in done.json["error"]["message"]
    assert path.read_bytes() == before
    assert ctx(place, "note", "update", "notes/a.md", "--title", "新").code == 0
    assert path.read_bytes() == before.replace(b"title: t", "title: 新".encode())
    assert problems(place)["unread_value"]["line"] == 3


def test_empty_items_among_tags_stay(place: Path) -> None:
    path = write(place, "notes/a.md", "---\r\ntags:\r\n- 甲\r\n- ~ # why\r\n- null\r\n---\r\n")
    assert ctx(place, "note", "update", "notes/a.md", "--add-tag", "乙", "--remove-tag", "甲").code == 0
    assert path.read_bytes().decode() == "---\r\ntags:\r\n- ~ # why\r\n- null\r\n- 乙\r\n---\r\n"


@pytest.mark.parametrize("key", ["title", "type", "id"])
def test_a_key_that_holds_a_list_is_named_and_not_written_over(place: Path, key: str) -> None:
    path = write(place, "notes/名.md", f"---\n{key}: [x, 乙]\n---\n")
    before = path.read_bytes()
    found = problems(place)["unread_value"]
    assert (found["path"], found["line"], found["severity"]) == ("notes/名.md", 2, "warning")
    if key != "id":
        done = ctx(place, "note", "update", "notes/名.md", f"--{key}", "action", "--json")
        assert (done.code, done.json["error"]["code"]) == (5, "cannot_patch")
        assert "notes/名.md:2:" in done.json["error"]["message"]
    assert path.read_bytes() == before


def test_two_notes_of_one_id_are_named_by_paths_and_mended(place: Path) -> None:
    note = create(place, "计划", "--content", "one")
    copy = place / "notes/计划 copy.md"
    copy.write_bytes((place / "notes/计划.md").read_bytes().replace(b"one", b"two"))
    done = ctx(place, "note", "show", note, "--json")
    assert (done.code, done.json["error"]["code"]) == (3, "ambiguous")
    for path in ("notes/计划.md", "notes/计划 copy.md"):
        assert path in done.json["error"]["hint"]
        assert ctx(place, "note", "show", path).code == 0
    assert note not in done.json["error"]["hint"]
    found = problems(place, "--fix", "--yes")["same_id"]
    assert (found["path"], found["line"], found["fixed"]) == ("notes/计划 copy.md", 2, True)
    assert ctx(place, "note", "show", note, "--json").json["content"] == "one"
    other = ctx(place, "note", "show", "notes/计划 copy.md", "--json").json
    assert (other["content"], other["id"] == note) == ("two", False)
    assert not problems(place)


@pytest.mark.parametrize("note_id", ["--help", "-x", "#5", "a\\nb", "长" * 400, "e\\u202e"])
def test_an_id_that_cannot_be_named_is_flagged_and_mended(place: Path, note_id: str) -> None:
    write(place, "notes/a.md", f'---\nid: "{note_id}"\ntitle: 周报\n---\n')
    found = problems(place)["odd_id"]
    assert (found["severity"], found["line"]) == ("warning", 2)
    assert len(str(found["message"])) < 200
    assert problems(place, "--fix", "--yes")["odd_id"]["fixed"]
    assert not problems(place)
    note = ctx(place, "note", "show", "周报", "--json").json
    assert ctx(place, "note", "show", note["id"]).code == 0


def test_a_line_separator_in_a_title_is_no_problem(place: Path) -> None:
    text = "---\ntitle: 甲\u2028乙\u0085丙\ntags: [a]\n---\nbody\n"
    path = write(place, "notes/a.md", text)
    assert not problems(place)
    assert ctx(place, "note", "update", "notes/a.md", "--add-tag", "b").code == 0
    assert path.read_text(encoding="utf-8") == text.replace("[a]", "[a, b]")
    assert ctx(place, "note", "list", "--json").json["notes"][0]["title"] == "甲\u2028乙\u0085丙"


def test_a_leftover_is_named_and_removed_only_when_it_is_old(place: Path) -> None:
    create(place, "甲")
    ctx(place, "note", "list")
    young = write(place, "notes/.ctx-tmp-1-a", "half")
    old = write(place, "notes/.ctx-tmp-1-b", "half")
    os.utime(old, (time.time() - 3600, time.time() - 3600))
    named = ctx(place, "note", "check", "--json").json["problems"]
    assert [(one["path"], bool(one["mend"])) for one in named] == [
        ("notes/.ctx-tmp-1-a", False),
        ("notes/.ctx-tmp-1-b", True),
    ]
    assert young.exists() and old.exists()
    done = ctx(place, "note", "check", "--fix", "--yes", "--json").json["problems"]
    assert [one["fixed"] for one in done] == [False, True]
    assert (young.exists(), old.exists()) == (True, False)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_header_that_git_could_not_merge_is_broken_and_never_rewritten(place: Path, newline: str) -> None:
    lines = ["---", "<<<<<<< HEAD", "title: mine", "=======", "title: 他们的", ">>>>>>> branch", "---", "冲突"]
    path = write(place, "notes/a.md", newline.join(lines))
    before = path.read_bytes()
    found = problems(place, "--fix", "--yes")["broken_front_matter"]
    assert (found["severity"], found["fixed"]) == ("problem", False)
    done = ctx(place, "note", "update", "notes/a.md", "--add-tag", "x", "--json")
    assert (done.code, done.json["error"]["code"]) == (5, "broken_front_matter")
    assert path.read_bytes() == before
    assert ctx(place, "note", "search", "冲突", "--json").json["total"] == 1


def test_a_text_that_git_could_not_merge_is_told(place: Path) -> None:
    write(place, "notes/a.md", "---\ntitle: 甲\n---\ntext\n<<<<<<< HEAD\nmine\n=======\n他们\n>>>>>>> other\n")
    found = problems(place)["conflict_markers"]
    assert (found["line"], found["severity"]) == (5, "warning")


# --- standard input -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [("create", "标题"), ("update", "标题", "--type", "action")])
def test_text_on_standard_input_that_was_not_asked_for_is_told(place: Path, arguments: tuple[str, ...]) -> None:
    if arguments[0] == "update":
        create(place, "标题")
    done = fed(place, "正文\n".encode(), "note", *arguments)
    assert done.code == 0
    assert "standard input was not read" in done.err and " - " in done.err
    assert fed(place, "正文\n".encode(), "note", *arguments, "-q").err == ""
    assert "not read" not in fed(place, b"x\n", "note", *arguments, "--content", "given").err
    assert "not read" not in fed(place, b"", "note", *arguments).err


def test_a_file_on_standard_input_is_told_of_and_not_taken(place: Path) -> None:
    lines = write(place, "titles.txt", "第一\nsecond\n")
    loop = 'while read -r title; do "$@" note create "$title" -q; done'
    with lines.open("rb") as stream:
        subprocess.run(
            ["bash", "-c", loop, "x", *COMMAND], cwd=place, stdin=stream, env=environment(place), check=True, timeout=60
        )
    notes = ctx(place, "note", "list", "--json").json["notes"]
    assert sorted(note["title"] for note in notes) == ["second", "第一"]


def test_an_open_pipe_that_nobody_writes_to_is_not_waited_for(place: Path) -> None:
    read, write_end = os.pipe()
    try:
        done = subprocess.run(
            [*COMMAND, "note", "create", "无人"],
            cwd=place, stdin=read, env=environment(place), capture_output=True, timeout=60, check=False,
        )  # fmt: skip
    finally:
        os.close(read)
        os.close(write_end)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_closed_standard_input_is_no_problem(place: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", '"$@" <&-', "x", *COMMAND, "note", "create", "x"],
        cwd=place, env=environment(place), capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b""), (done.stderr, sys.platform)


# --- empty values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "--type", ""),
        ("list", "--tag", ""),
        ("list", "--tag="),
        ("list", "--tag", ","),
        ("list", "--since", ""),
        ("list", "--until", " "),
        ("list", "--sort", ""),
        ("list", "--limit", ""),
        ("list", "-w", ""),
        ("summary", "--workspace="),
        ("search", "x", "--type", ""),
        ("search", "x", "--tag", "a", "--tag", "#"),
        ("search", " "),
        ("create", "t", "--type", ""),
        ("create", "t", "--tag", ""),
        ("create", ""),
        ("create", "t", "--file", ""),
        ("update", "甲", "--title", ""),
        ("update", "甲", "--type", ""),
        ("update", "甲", "--add-tag", ""),
        ("update", "甲", "--remove-tag", ""),
        ("import", ""),
        ("export", ""),
        ("delete", "甲", "--yes", "-w", ""),
    ],
)
def test_an_empty_value_is_refused_not_left_out(place: Path, arguments: tuple[str, ...]) -> None:
    create(place, "甲", "--tag", "a")
    done = ctx(place, "note", *arguments, "--json")
    assert (done.code, bool(done.json["error"]["hint"])) == (2, True), done
    assert ctx(place, "note", "list", "--json").json["total"] == 1
