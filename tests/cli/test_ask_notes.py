"""`ctx ask --notes`: the notes as they are now."""

from pathlib import Path

import pytest

from tests.cli.run import ctx, write

PUMP = "When does the irrigation pump start?"
BLOCKER = "Which supplier delivers the spare valve?"
NOTE = "---\ntitle: Spare valve\ntype: blocker\n---\n\nThe spare valve is delivered by the supplier Nordventil.\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    write(folder, "docs/manual.md", "# Manual\n\n## 6.4 Pumps\n\nThe irrigation pump starts at six in the morning.\n")
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    write(folder, "notes/valve.md", NOTE)
    write(folder, "notes/会议.md", "---\ntitle: 会议\n---\n\n下次例会在九月十七日下午三点举行。\n")
    return folder


def test_notes_are_looked_into_only_where_asked_for(place: Path) -> None:
    assert ctx(place, "ask", BLOCKER).code == 4
    assert ctx(place, "ask", BLOCKER, "--no-notes").code == 4
    done = ctx(place, "ask", BLOCKER, "--notes", "--json")
    assert done.code == 0
    [cited] = done.json["citations"]
    assert (cited["doc"], cited["line_start"]) == ("notes/valve.md", 6)
    assert "stale" not in cited
    assert ctx(place, "ask", PUMP, "--notes", "--json").json["citations"][0]["doc"] == "docs/manual.md"
    assert ctx(place, "ask", "下次例会在什么时候举行？", "--notes").out.startswith("下次例会在九月十七日")


def test_the_setting_takes_them_in_and_the_flag_keeps_them_out(place: Path) -> None:
    assert ctx(place, "config", "set", "ask.notes", "true").code == 0
    assert ctx(place, "ask", BLOCKER).code == 0
    assert ctx(place, "ask", BLOCKER, "--no-notes").code == 4
    assert ctx(place, "ask", BLOCKER, CTX_ASK_NOTES="false").code == 4
    assert ctx(place, "kb", "search", "Nordventil", "--json").json["hits"][0]["doc"] == "notes/valve.md"
    assert ctx(place, "kb", "search", "Nordventil", "--no-notes", "--json").json["hits"] == []


def test_an_edited_a_new_and_a_deleted_note_are_seen_at_once(place: Path) -> None:
    assert "Nordventil" in ctx(place, "ask", BLOCKER, "--notes").out
    write(place, "notes/valve.md", NOTE.replace("Nordventil", "Ventilhuset"))
    done = ctx(place, "ask", BLOCKER, "--notes")
    assert "Ventilhuset" in done.out
    assert done.err == ""
    write(place, "notes/sub/new.md", "# Key\n\nThe key of the pump house hangs behind the green door.\n")
    assert "green door" in ctx(place, "ask", "Where does the key of the pump house hang?", "--notes").out
    (place / "notes/valve.md").unlink()
    assert ctx(place, "ask", BLOCKER, "--notes").code == 4
    note = ctx(place, "note", "create", "Fuse", "--content", "The fuse of the fog system has ten amperes.").out.strip()
    fuse = "How many amperes has the fuse of the fog system?"
    assert "ten amperes" in ctx(place, "ask", fuse, "--notes").out
    assert ctx(place, "note", "delete", note, "--yes").code == 0
    assert ctx(place, "ask", fuse, "--notes").code == 4


def test_a_workspace_without_notes_can_be_asked_with_them(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    write(folder, "docs/a.md", "# A\n\nThe irrigation pump starts at six in the morning.\n")
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    assert ctx(folder, "ask", PUMP, "--notes").code == 0
    assert not (folder / "notes").exists()


def test_notes_alone_can_be_asked(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    write(folder, "notes/valve.md", NOTE)
    assert ctx(folder, "init").code == 0
    assert ctx(folder, "ask", BLOCKER).code == 3
    assert ctx(folder, "ask", BLOCKER, "--notes").code == 0
    (folder / "notes/valve.md").unlink()
    done = ctx(folder, "ask", BLOCKER, "--notes", "--json")
    assert (done.code, done.json["declined"]) == (4, True)


def test_the_knowledge_base_of_the_notes_is_never_listed(place: Path) -> None:
    assert ctx(place, "ask", BLOCKER, "--notes").code == 0
    assert "_notes" not in ctx(place, "kb", "list").out
    assert [one["name"] for one in ctx(place, "kb", "list", "--json").json["knowledge_bases"]] == ["default"]
    assert "_notes" not in ctx(place, "status").out
    assert "_notes" not in ctx(place, "ask", PUMP, "--kb", "nope").err
    assert ctx(place, "kb", "index", "docs", "--kb", "_notes").code == 2


def test_a_broken_note_does_not_hide_the_others(place: Path) -> None:
    write(place, "notes/broken.md", b"\xff\xfe\x00broken" * 30)
    write(place, "notes/yaml.md", "---\ntitle: [\n---\n\nThe lamp of the gate burns until midnight.\n")
    assert "Nordventil" in ctx(place, "ask", BLOCKER, "--notes").out


def test_citations_of_notes_verify(place: Path) -> None:
    write(place, "answer.json", ctx(place, "ask", BLOCKER, "--notes", "--json").out)
    assert ctx(place, "verify", "answer.json").code == 0
