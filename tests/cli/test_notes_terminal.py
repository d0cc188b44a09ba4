"""`ctx note` on a terminal: editors, questions, charts; and files that change while a command waits."""

import subprocess
import sys
import time
from pathlib import Path

from tests.cli.run import COMMAND, ctx, environment, on_terminal, write
from tests.cli.test_notes import create, place

__all__ = ["place"]


def _editor(place: Path, script: str) -> str:
    path = write(place, "ed itor.py", f"import sys, pathlib\npath = pathlib.Path(sys.argv[-1])\n{script}\n")
    return f'"{sys.executable}" "{path}" --wait'


def test_edit_uses_the_editor_with_its_arguments_and_moves_updated_at(place: Path) -> None:
    note_id = create(place, "old", "--content", "text")
    before = ctx(place, "note", "show", note_id, "--json").json
    editor = _editor(place, "path.write_text(path.read_text().replace('text', '新的'))")
    done = on_terminal(place, "note", "edit", note_id, VISUAL=editor, EDITOR="false")
    assert done.code == 0, done.out
    after = ctx(place, "note", "show", note_id, "--json").json
    assert after["content"] == "新的"
    assert after["updated_at"] > before["updated_at"]
    assert ctx(place, "note", "edit", note_id, EDITOR=editor).code == 2
    assert on_terminal(place, "note", "edit", note_id, EDITOR="false").code == 8


def test_an_edit_over_a_file_that_changed_meanwhile_is_refused_and_kept(place: Path) -> None:
    note_id = create(place, "t", "--content", "mine")
    path = place / "notes/t.md"
    editor = _editor(place, f"path.write_text('lost?'); pathlib.Path({str(path)!r}).write_text('theirs')")
    done = on_terminal(place, "note", "edit", note_id, EDITOR=editor)
    assert done.code == 6, done.out
    assert path.read_text() == "theirs"
    kept = Path(done.out.split("kept in ")[1].split()[0])
    assert kept.read_text() == "lost?"
    kept.unlink()


def test_create_edit_writes_what_the_editor_saved(place: Path) -> None:
    done = on_terminal(place, "note", "create", "t", "--edit", EDITOR=_editor(place, "path.write_text('typed\\n')"))
    assert done.code == 0, done.out
    assert ctx(place, "note", "show", "t", "--json").json["content"] == "typed"


def test_content_from_stdin_does_not_replace_what_was_written_meanwhile(place: Path) -> None:
    note_id = create(place, "t", "--content", "old")
    path = place / "notes/t.md"
    process = subprocess.Popen(
        [*COMMAND, "note", "update", note_id, "-"],
        cwd=place,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(place),
    )
    time.sleep(1.5)
    path.write_text(path.read_text() + "theirs\n")
    process.communicate(b"mine")
    assert process.returncode == 6
    assert path.read_text().endswith("old\ntheirs\n")


def test_delete_asks_on_a_terminal(place: Path) -> None:
    note_id = create(place, "t")
    assert on_terminal(place, "note", "delete", note_id, typed=b"n\n").code == 2
    assert (place / "notes/t.md").exists()
    assert on_terminal(place, "note", "delete", note_id, typed=b"y\n").code == 0
    assert not (place / "notes/t.md").exists()


def test_a_summary_on_a_terminal_has_a_chart_and_in_a_pipe_no_escape_codes(place: Path) -> None:
    create(place, "t")
    assert "█" in on_terminal(place, "note", "summary").out
    for arguments in (("summary",), ("list",), ("search", "t"), ("show", "t")):
        done = ctx(place, "note", *arguments)
        assert "\x1b" not in done.out + done.err


def test_characters_that_turn_text_around_are_escaped_for_people_and_kept_in_json(place: Path) -> None:
    title = "安全\u202egpj.exe\u2066"
    note = create(place, title, "--content", f"needle \u202e {title}", "--tag", "a\u202eb")
    write(place, "notes/x\u202ey.md", f"[[{title}]] [[no\u202ene]]\n")
    for arguments in (("list",), ("show", note), ("search", "needle"), ("summary",), ("links",), ("check",)):
        for done in (ctx(place, "note", *arguments), on_terminal(place, "note", *arguments)):
            assert "\\u202e" in done.out + done.err or arguments == ("check",)
            assert not {"\u202e", "\u2066"} & {*done.out, *done.err}, arguments
    assert ctx(place, "note", "show", note, "--json").json["title"] == title


def test_a_warning_is_coloured_on_a_terminal(place: Path) -> None:
    write(place, "notes/a.md", "---\ntitle: a: b\n---\n")
    shown = on_terminal(place, "note", "list").out
    assert "\x1b[33mwarning:\x1b[0m" in shown and "\\x1b" not in shown


def test_a_title_of_two_lines_is_shown_on_one(place: Path) -> None:
    write(place, "notes/a.md", '---\ntitle: "一\\n0000 forged"\n---\nneedle\n')
    for arguments in (("list",), ("show", "notes/a.md"), ("search", "needle"), ("summary",)):
        assert not [line for line in ctx(place, "note", *arguments).out.splitlines() if line.startswith("0000")]


def test_ids_and_dates_stay_whole_on_a_narrow_terminal(place: Path) -> None:
    notes = [create(place, title) for title in ("A title that goes on and on and on", "很长" * 30)]
    lines = on_terminal(place, "note", "list", COLUMNS="64").out.splitlines()
    assert all(any(line.startswith(note) for line in lines) for note in notes)
    assert len(lines) == 4 and "…" in lines[1]
    summary = ctx(place, "note", "summary").out
    assert all(f"\n  {note}  " in summary for note in notes)
