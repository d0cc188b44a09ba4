"""Faults that people met in tools for notes: each row of the field, as processes and with real files."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ctxcli import NoteTool
from tests.cli.run import COMMAND, ctx, environment, write

VAULT = Path(__file__).parents[1] / "fixtures" / "vault"
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    assert ctx(folder, "init").code == 0
    return folder


@pytest.fixture
def vault(place: Path) -> Path:
    shutil.copytree(VAULT, place / "notes")
    return place


def titles(place: Path) -> list[str]:
    return sorted(note["title"] for note in ctx(place, "note", "list", "--limit", "0", "--json").json["notes"])


# --- A0: the published tool of a course -------------------------------------------------------------------------


def test_ids_made_in_one_second_differ_also_after_a_delete(place: Path) -> None:
    tool = NoteTool(place)
    a, b = (tool.run({"action": "create", "title": title, "content": title})["id"] for title in "AB")
    tool.run({"action": "delete", "note_id": a})
    c = tool.run({"action": "create", "title": "C", "content": "C"})["id"]
    assert len({a, b, c}) == 3
    assert tool.run({"action": "read", "note_id": b})["content"] == "B"


def test_a_key_and_a_list_added_by_hand_stay(place: Path) -> None:
    tool = NoteTool(place)
    note = tool.run({"action": "create", "title": "中文: 标题 #1", "tags": ["里程碑"]})
    path = place / note["path"]
    path.write_text(
        path.read_text().replace("tags: [里程碑]", "status: draft\ntags:\n  - 里程碑\n  - 手"), encoding="utf-8"
    )
    tool.run({"action": "update", "note_id": note["id"], "content": "new"})
    assert "status: draft\ntags:\n  - 里程碑\n  - 手\n" in path.read_text(encoding="utf-8")
    assert tool.run({"action": "read", "note_id": note["id"]})["tags"] == ["里程碑", "手"]


# --- A: front matter ----------------------------------------------------------------------------------------------


def test_a_broken_note_hides_no_other_and_is_named_with_its_line(vault: Path) -> None:
    done = ctx(vault, "note", "list", "--json", "--limit", "0")
    assert done.code == 0
    found = {note["path"].removeprefix("notes/"): note for note in done.json["notes"]}
    assert found["周报.md"]["title"] == "周报: 第3周 | A & B"
    assert found["周报.md"]["tags"] == ["甲", "乙"]
    assert "notes/周报.md:2:" in done.err
    assert len(found) == sum(1 for path in VAULT.rglob("*.md") if ".trash" not in path.parts)
    assert ctx(vault, "note", "search", "连接池", "--json").json["total"] == 2
    assert ctx(vault, "note", "search", "第3周", "--json").json["total"] == 1
    problems = ctx(vault, "note", "check", "--json")
    assert problems.code == 4
    broken = {(one["path"], one["line"]) for one in problems.json["problems"] if one["code"] == "broken_front_matter"}
    assert broken == {("notes/周报.md", 2), ("notes/unclosed.md", 1), ("notes/double key.md", 3), ("notes/tab.md", 4)}


def test_a_broken_note_is_never_rewritten(vault: Path) -> None:
    for name in ("周报.md", "unclosed.md", "double key.md", "tab.md"):
        before = (vault / "notes" / name).read_bytes()
        done = ctx(vault, "note", "update", f"notes/{name}", "--add-tag", "x", "--json")
        assert (done.code, done.json["error"]["code"]) == (5, "broken_front_matter")
        assert f"notes/{name}:" in done.json["error"]["message"]
        assert (vault / "notes" / name).read_bytes() == before


def test_a_mend_is_proposed_and_made_only_when_said(vault: Path) -> None:
    before = {path: path.read_bytes() for path in (vault / "notes").rglob("*.md")}
    done = ctx(vault, "note", "check", "--fix")
    assert done.code == 4
    assert '+title: "周报: 第3周 | A & B"' in done.out
    assert {path: path.read_bytes() for path in before} == before
    done = ctx(vault, "note", "check", "--fix", "--yes", "--json")
    assert all(one["fixed"] for one in done.json["problems"] if one["code"] == "broken_front_matter")
    note = ctx(vault, "note", "show", "notes/周报.md", "--json").json
    assert (note["title"], note["tags"]) == ("周报: 第3周 | A & B", ["甲", "乙"])
    assert ctx(vault, "note", "show", "notes/unclosed.md", "--json").json["content"] == "The text goes on: here."
    kept = [path.read_bytes() for path in (vault / ".ctx/trash").rglob("*.before")]
    assert sorted(kept) == sorted(
        before[vault / "notes" / name] for name in ("周报.md", "unclosed.md", "double key.md", "tab.md")
    )


@pytest.mark.parametrize(
    ("name", "title", "tags"),
    [
        ("crlf.md", "CRLF note", ["one", "two"]),
        ("bom.md", "With BOM", []),
        ("yaml types.md", "2026-05-26", ["no", "1.0", "2024-01-02"]),
        ("empty block.md", "empty block", []),
        ("rule at the top.md", "rule at the top", []),
        ("dashes.md", "dashes", []),
        ("no title.md", "真正的标题", []),
        ("gbk.md", "国标", []),
        ("utf16.md", "Wide", []),
        ("🎉 party.md", "🎉 party", []),
        ("projects/beta.md", "Beta", []),
        ("long line.md", "Long", []),
    ],
)
def test_awkward_notes_are_read(vault: Path, name: str, title: str, tags: list[str]) -> None:
    note = ctx(vault, "note", "show", f"notes/{name}", "--json").json
    assert (note["title"], note["tags"]) == (title, tags)


def test_awkward_notes_keep_every_byte_that_was_not_named(vault: Path) -> None:
    for path in sorted((vault / "notes").rglob("*.md")):
        name = path.relative_to(vault).as_posix()
        if ".trash" in name or path.name in ("周报.md", "unclosed.md", "double key.md", "tab.md"):
            continue
        before = path.read_bytes()
        done = ctx(vault, "note", "update", name, "--append", "X1")
        assert done.code == 0, (name, done.err)
        after = path.read_bytes()
        if path.name == "utf16.md":
            assert after.decode("utf-16") == before.decode("utf-16") + "X1\n"
            continue
        added = b"X1" if b"\r\n" not in before else b"X1\r\n"
        moved = b"updated_at" in after
        assert moved is (path.name == "alpha.md")
        if not moved:
            assert after.startswith(before.rstrip(b"\r\n")) and added.strip() in after[len(before.rstrip(b"\r\n")) :]
            assert after.endswith(b"\n") is (before.endswith(b"\n") or path.name == "dashes.md")


def test_tags_come_as_text_as_one_and_as_a_list(place: Path) -> None:
    for number, form in enumerate(
        ("甲, 乙", "[甲, 乙]", '"甲，乙"', "\n- 甲\n- 乙", "'#甲 #乙'", "\n  - '#甲'\n  - 乙")
    ):
        write(place, f"notes/{number}.md", f"---\ntags: {form}\n---\n")
    assert [note["tags"] for note in ctx(place, "note", "list", "--json").json["notes"]] == [["甲", "乙"]] * 6
    assert ctx(place, "note", "list", "--tag", "乙", "--json").json["total"] == 6


def test_yaml_that_would_hurt_is_a_broken_note(place: Path) -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    for name, block in (
        ("bomb", bomb),
        ("deep", "a: " + "[" * 20_000),
        ("deep2", "- " * 5000 + "x"),
        ("self", "a: &a [*a]\n"),
        ("key", "{{title}}: x\n"),
        ("nul", "a: \0\n"),
        ("tag", "a: !!python/object/apply:os.system [true]\n"),
        ("list", "- a\n- b\n"),
    ):
        write(place, f"notes/{name}.md", f"---\n{block}---\nfindme\n")
    done = ctx(place, "note", "list", "--json")
    assert (done.code, done.json["total"]) == (0, 8)
    assert ctx(place, "note", "search", "findme", "--json").json["total"] == 8


# --- B: ids, titles, renames --------------------------------------------------------------------------------------


def test_names_that_differ_little_are_all_kept(place: Path) -> None:
    for name in ("a b.md", "a_b.md", "a-b.md", "README.md", "readme.md"):
        write(place, f"notes/{name}", f"# {name}\n\nneedle\n")
    assert len(titles(place)) == 5
    assert ctx(place, "note", "search", "needle", "--json").json["total"] == 5
    ids = [ctx(place, "note", "create", title).out for title in ("My Note", "my-note", "My Note", "MY NOTE")]
    assert len(set(ids)) == 4
    assert len(titles(place)) == 9


def test_moved_copied_and_removed_files_are_followed(place: Path) -> None:
    note = ctx(place, "note", "create", "m", "--content", "moved", "--json").json
    (place / note["path"]).rename(place / "notes/b.md")
    assert ctx(place, "note", "show", note["id"], "--json").json["path"] == "notes/b.md"
    shutil.copy2(place / "notes/b.md", place / "notes/m.md")
    done = ctx(place, "note", "list", "--json")
    assert sorted(one["path"] for one in done.json["notes"]) == ["notes/b.md", "notes/m.md"]
    done = ctx(place, "note", "show", note["id"], "--json")
    assert (done.code, done.json["error"]["code"]) == (3, "ambiguous")
    assert "same_id" in {one["code"] for one in ctx(place, "note", "check", "--json").json["problems"]}
    (place / "notes/b.md").unlink()
    assert ctx(place, "note", "search", "moved", "--json").json["total"] == 1
    (place / "notes/m.md").write_text("another text")
    assert ctx(place, "note", "search", "moved", "--json").json["total"] == 0


def test_git_checkouts_are_followed(place: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=x", "-c", "user.email=x@y", *arguments], cwd=place, check=True, capture_output=True
        )

    git("init", "-q", "-b", "one")
    write(place, "notes/a.md", "# first\n")
    git("add", "notes")
    git("commit", "-qm", "1")
    assert titles(place) == ["first"]
    git("checkout", "-qb", "two")
    write(place, "notes/a.md", "# other\n")
    write(place, "notes/b.md", "# more\n")
    git("add", "notes")
    git("commit", "-qm", "2")
    assert titles(place) == ["more", "other"]
    git("checkout", "-q", "one")
    assert titles(place) == ["first"]


@pytest.mark.skipif(IS_ROOT, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_an_error(place: Path) -> None:
    (place / "notes").mkdir()
    (place / "notes").chmod(0o555)
    done = ctx(place, "note", "create", "x", "--json")
    (place / "notes").chmod(0o755)
    assert (done.code, done.json["error"]["code"]) == (5, "unwritable")


def test_a_notes_folder_that_is_a_file_is_an_error(place: Path) -> None:
    write(place, "notes", "no folder")
    done = ctx(place, "note", "create", "x", "--json")
    assert (done.code, done.json["error"]["code"]) == (5, "unwritable")


# --- nothing outside of the notes ---------------------------------------------------------------------------------


def test_nothing_outside_of_the_notes_folder_is_read_or_deleted(place: Path) -> None:
    secret = write(place, "secret.md", "# secret\n\ntop secret\n")
    outside = write(place.parent, "outside.md", "# outside\n\ntop secret\n")
    create = ctx(place, "note", "create", "inner").out.strip()
    (place / "notes/link.md").symlink_to(secret)
    (place / "notes/out.md").symlink_to(outside)
    (place / "notes/folder").symlink_to(place.parent)
    write(place, "notes/evil.md", "---\nid: ../secret.md\ntitle: ../../outside.md\n---\n")
    os.mkfifo(place / "notes/pipe.md")
    names = [
        "../secret.md",
        "notes/../secret.md",
        str(secret),
        "secret.md",
        "notes/link.md",
        "link.md",
        "notes/out.md",
        "notes/folder/outside.md",
        "folder/w/secret.md",
        "/etc/passwd",
        "notes/pipe.md",
        "../../outside.md",
        "..",
        "/",
        "notes",
    ]
    for name in names:
        for command in (("show",), ("update", "--append", "x"), ("delete", "--yes"), ("delete", "--yes", "--purge")):
            done = ctx(place, "note", command[0], name, *command[1:])
            if done.code == 0:  # by the id or title of the evil note only
                assert "../secret.md".startswith(name) or name == "../../outside.md"
                write(place, "notes/evil.md", "---\nid: ../secret.md\ntitle: ../../outside.md\n---\n")
            assert "top secret" not in done.out + done.err
    assert ctx(place, "note", "search", "secret", "--json").json["total"] <= 1
    assert secret.read_text() == "# secret\n\ntop secret\n"
    assert outside.read_text() == "# outside\n\ntop secret\n"
    assert sorted(note["id"] for note in ctx(place, "note", "list", "--json").json["notes"]) == sorted(
        ["../secret.md", create]
    )
    done = ctx(place, "note", "export", str(place.parent / "exported"), "--json")
    assert sorted(one["target"] for one in done.json["files"]) == ["evil.md", "inner.md"]


def test_an_index_that_lies_leads_nowhere(place: Path) -> None:
    write(place, "secret.md", "top secret\n")
    ctx(place, "note", "create", "inner")
    ctx(place, "note", "list")
    from ctxcli.storage import notes_index
    from ctxcli.storage.notes_index import Row

    row = Row(
        "../secret.md", "x", "t", "general", "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00+00:00", 1, 2, 3, 0, []
    )
    notes_index.append(place / ".ctx/notes-index.jsonl", [row])
    for command in (("show", "x"), ("delete", "x", "--yes")):
        assert ctx(place, "note", *command).code == 3
    assert (place / "secret.md").exists()


def test_a_notes_folder_that_leads_out_needs_trust(place: Path) -> None:
    outside = place.parent / "elsewhere"
    write(outside, "n.md", "# outer\n")
    (place / "notes").symlink_to(outside)
    done = ctx(place, "note", "list", "--json")
    assert (done.code, done.json["error"]["code"]) == (5, "notes_outside")
    assert ctx(place, "trust").code == 0
    assert titles(place) == ["outer"]


# --- E: stale, unreadable, big ------------------------------------------------------------------------------------


@pytest.mark.skipif(IS_ROOT, reason="root may read anything")
def test_what_cannot_be_read_is_kept_and_said(place: Path) -> None:
    write(place, "notes/sub/a.md", "# a\n")
    write(place, "notes/b.md", "# b\n\nneedle")
    assert titles(place) == ["a", "b"]
    (place / "notes/sub").chmod(0)
    (place / "notes/b.md").chmod(0)
    done = ctx(place, "note", "list", "--json")
    assert (done.code, done.json["total"]) == (7, 2)
    assert "notes/sub" in done.err and "notes/b.md" in done.err
    (place / "notes/sub").chmod(0o755)
    (place / "notes/b.md").chmod(0o644)
    assert titles(place) == ["a", "b"]
    assert ctx(place, "note", "search", "needle", "--json").json["total"] == 1


def test_a_huge_note_is_found_by_its_last_word(place: Path) -> None:
    write(place, "notes/big.md", "# Big\n\n" + "word " * 4_000_000 + "needle")
    done = ctx(place, "note", "search", "needle", "--json")
    assert done.json["total"] == 1
    assert len(done.out) < 5000
    assert ctx(place, "note", "links").code == 0


# --- I: streams ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [{"PYTHONIOENCODING": "gbk"}, {"PYTHONUTF8": "0", "LC_ALL": "C"}])
def test_text_that_the_locale_lacks_is_written_as_utf8(place: Path, more: dict[str, str]) -> None:
    done = ctx(place, "note", "create", "•©🙂 标题", "--content", "🙂", "--json", **more)
    assert done.json["title"] == "•©🙂 标题"
    assert done.json["path"] == "notes/•©🙂 标题.md"
    assert "•©🙂" in ctx(place, "note", "list", **more).out
    assert ctx(place, "note", "search", "🙂", "--json", **more).json["total"] == 1


def test_a_file_name_that_is_no_utf8_is_listed(place: Path) -> None:
    (place / "notes").mkdir()
    with open(os.fsencode(place / "notes") + b"/\xff\xfe.md", "wb") as file:  # noqa: PTH123
        file.write(b"# odd\n\nneedle\n")
    for _ in range(2):
        done = ctx(place, "note", "list", "--json")
        assert done.json["notes"][0]["path"] == "notes/\\xff\\xfe.md"
    assert ctx(place, "note", "search", "needle", "--json").json["total"] == 1


def test_a_closed_pipe_ends_quietly(place: Path) -> None:
    for number in range(30):
        write(place, f"notes/{number}.md", "# title " + "x" * 3000)
    process = subprocess.Popen(
        [*COMMAND, "note", "list", "--json", "--limit", "0"],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(place),
    )
    assert process.stdout and process.stderr
    process.stdout.close()
    assert process.stderr.read() == b""
    process.wait(timeout=60)
