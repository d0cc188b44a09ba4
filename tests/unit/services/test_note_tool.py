"""NoteTool: the form that agents call."""

import json
from pathlib import Path

import pytest

from ctxcli import NoteTool
from ctxcli.model.errors import BusyError, CtxError, NotFoundError, UsageError


def test_the_first_note_makes_the_workspace(tmp_path: Path) -> None:
    tool = NoteTool(tmp_path / "new")
    with pytest.raises(NotFoundError):
        tool.run({"action": "list"})
    note = tool.run({"action": "create", "title": "计划", "content": "…", "note_type": "action", "tags": ["q3"]})
    assert note["schema"] == "ctx/note/1"
    assert json.loads(json.dumps(note)) == note
    assert tool.run({"action": "read", "note_id": note["id"]}) == note
    assert tool.run({"action": "show", "note_id": note["id"]}) == note


def test_all_actions_give_the_documents_of_the_commands(tmp_path: Path) -> None:
    tool = NoteTool(str(tmp_path))
    one = tool.run({"action": "create", "title": "One", "content": "first [[Two]]"})["id"]
    two = tool.run({"action": "create", "title": "Two", "tags": "a, b"})["id"]
    assert tool.run({"action": "read", "note_id": two})["tags"] == ["a", "b"]
    changed = tool.run(
        {"action": "update", "note_id": one, "note_type": "blocker", "add_tags": ["x"], "append": "more"}
    )
    assert (changed["type"], changed["tags"], changed["content"]) == ("blocker", ["x"], "first [[Two]]\nmore")
    assert tool.run({"action": "search", "query": "first"})["notes"][0]["id"] == one
    assert tool.run({"action": "list", "tags": ["a", "x"], "tags_match": "any"})["total"] == 2
    assert tool.run({"action": "list", "tags": '["a", "x"]'})["total"] == 0
    assert tool.run({"action": "list", "limit": "1"})["shown"] == 1
    assert tool.run({"action": "summary"})["open_blockers"][0]["id"] == one
    assert tool.run({"action": "links", "note_id": two})["backlinks"][0]["id"] == one
    assert tool.run({"action": "links"})["orphans"][0]["id"] == one
    assert tool.run({"action": "check"})["ok"] is True
    gone = tool.run({"action": "delete", "note_id": two})
    assert (gone["schema"], gone["id"]) == ("ctx/note-deletion/1", two)
    assert tool.run({"action": "restore", "note_id": two})["id"] == two
    out = tool.run({"action": "export", "folder": str(tmp_path / "out")})
    assert out["written"] == 2
    assert tool.run({"action": "import", "folder": str(tmp_path / "out")})["counts"]["same"] == 2


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({}, "unknown_action"),
        ({"action": "creat"}, "unknown_action"),
        ({"action": ["create"]}, "unknown_action"),
        ({"action": "create"}, "bad_parameter"),
        ({"action": "create", "title": 5}, "bad_parameter"),
        ({"action": "create", "title": "x", "tag": "y"}, "unknown_parameter"),
        ({"action": "create", "title": "x", "tags": [1]}, "bad_parameter"),
        ({"action": "create", "title": "x", "note_type": "nope"}, "unknown_type"),
        ({"action": "create", "title": "  "}, "empty_title"),
        ({"action": "list", "limit": -1}, "bad_parameter"),
        ({"action": "list", "sort": "size"}, "bad_parameter"),
        ({"action": "list", "since": "soon"}, "bad_date"),
        ({"action": "delete", "note_id": "x", "purge": "yes"}, "bad_parameter"),
        ({"action": "update", "note_id": "t"}, "usage"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, parameters: dict[str, object], code: str) -> None:
    tool = NoteTool(tmp_path)
    tool.run({"action": "create", "title": "t"})
    with pytest.raises(UsageError) as caught:
        tool.run(parameters)
    assert caught.value.code == code


def test_a_title_that_two_notes_bear_is_refused(tmp_path: Path) -> None:
    tool = NoteTool(tmp_path)
    for _ in range(2):
        tool.run({"action": "create", "title": "计划"})
    with pytest.raises(NotFoundError, match="2 notes"):
        tool.run({"action": "read", "note_id": "计划"})


def test_what_cannot_be_known_is_a_notice(tmp_path: Path) -> None:
    tool = NoteTool(tmp_path)
    tool.run({"action": "create", "title": "t"})
    (tmp_path / "notes/broken.md").write_text("---\ntitle: a: b\n---\n")
    assert tool.run({"action": "list"})["total"] == 2
    assert tool.notices == ["notes/broken.md:2: mapping values are not allowed in this context"]


def test_a_note_with_an_id_that_is_there_is_not_restored(tmp_path: Path) -> None:
    tool = NoteTool(tmp_path)
    note = tool.run({"action": "create", "title": "t", "content": "x"})
    data = (tmp_path / note["path"]).read_bytes()
    tool.run({"action": "delete", "note_id": note["id"]})
    (tmp_path / note["path"]).write_bytes(data)
    with pytest.raises(BusyError):
        tool.run({"action": "restore", "note_id": note["id"]})


def test_any_content_comes_back_exactly(tmp_path: Path) -> None:
    tool = NoteTool(tmp_path)
    for content in (
        "",
        "\n",
        "a\n",
        "a\n\n",
        "---\n",
        "---\ntitle: x\n---\n",
        "\ta",
        "a\r\nb",
        "\0",
        " ",
        "\u2028",
        "\ufeffx",
    ):
        note = tool.run({"action": "create", "title": "t", "content": content})
        assert tool.run({"action": "read", "note_id": note["id"]})["content"] == content
        tool.run({"action": "update", "note_id": note["id"], "content": "other"})
        tool.run({"action": "update", "note_id": note["id"], "content": content})
        assert tool.run({"action": "read", "note_id": note["id"]})["content"] == content, repr(content)


def test_lone_surrogates_do_no_harm(tmp_path: Path) -> None:
    tool = NoteTool(tmp_path)
    try:
        note = tool.run({"action": "create", "title": "bad \ud800 title \udcff", "content": "x\udfff"})
    except CtxError:
        return
    assert tool.run({"action": "read", "note_id": note["id"]})["title"] == note["title"]


@pytest.mark.parametrize("given", [None, 1, "list", ["action"], {"action": None}, {1: 2}])
def test_parameters_that_are_none_raise_the_error_of_the_api(tmp_path: Path, given: object) -> None:
    with pytest.raises(UsageError) as caught:
        NoteTool(tmp_path).run(given)  # type: ignore[arg-type]
    assert caught.value.hint


@pytest.mark.parametrize("name", ["note_type", "since", "until", "tags"])
def test_an_empty_filter_is_refused_not_widened(tmp_path: Path, name: str) -> None:
    tool = NoteTool(tmp_path)
    tool.run({"action": "create", "title": "计划", "tags": ["甲"]})
    for action in ({"action": "list"}, {"action": "search", "query": "计划"}):
        with pytest.raises(UsageError):
            tool.run({**action, name: ""})
    with pytest.raises(UsageError):
        tool.run({"action": "list", "tags": ["甲", ""]})
    assert tool.run({"action": "list", "tags": []})["total"] == 1
