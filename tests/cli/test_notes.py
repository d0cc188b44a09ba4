"""`ctx note` as real processes."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.run import COMMAND, Done, ctx, environment, write


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    assert ctx(folder, "init").code == 0
    return folder


def fed(place: Path, data: bytes, *arguments: str) -> Done:
    """Run with `data` on standard input."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=place,
        input=data,
        capture_output=True,
        env=environment(place),
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def create(place: Path, title: str, *more: str, data: bytes = b"", warned: bool = False) -> str:
    done = fed(place, data, "note", "create", title, *more)
    assert (done.code, bool(done.err)) == (0, warned), done
    return done.out.rstrip("\n")


def front_matter(path: Path) -> dict[str, Any]:
    found = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1])
    assert isinstance(found, dict)
    return found


def test_create_prints_the_id_alone_and_makes_a_workspace(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    done = ctx(
        folder,
        "note",
        "create",
        "周报: 第3周",
        "--content",
        "正文",
        "--type",
        "action",
        "--tag",
        "里程碑",
        "--tag",
        "b",
    )
    assert done.code == 0
    assert done.out.count("\n") == 1
    assert "workspace" in done.err
    note = ctx(folder, "note", "show", done.out.strip(), "--json").json
    assert list(note) == [
        "schema",
        "id",
        "title",
        "type",
        "tags",
        "created_at",
        "updated_at",
        "path",
        "content",
        "extra",
    ]
    assert (note["schema"], note["title"], note["type"]) == ("ctx/note/1", "周报: 第3周", "action")
    assert (note["tags"], note["content"], note["extra"]) == (["里程碑", "b"], "正文", {})
    assert note["path"] == "notes/周报 第3周.md"
    fields = front_matter(folder / note["path"])
    assert fields["title"] == "周报: 第3周"
    assert "\\u" not in (folder / note["path"]).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "title",
    [
        "a: b # c",
        "yes",
        "2024-01-01",
        "🎉 party 👨‍👩‍👧",
        "字" * 300,
        'a/b?<>:"\\|*.',
        "CON",
        "caf\u00e9",
        "cafe\u0301",
        "null",
        "-",
        "[bold]x[/]" + "y" * 200,
        "two\nlines",
        "'",
        '"',
        "{{x}}",
        "#tag",
        "...",
        "../../etc/passwd",
        ".hidden",
        "None",
    ],
)
def test_any_title_comes_back_as_it_was_and_the_file_name_is_safe(place: Path, title: str) -> None:
    note_id = create(place, "--", title)
    note = ctx(place, "note", "show", note_id, "--json").json
    assert note["title"] == title
    path = place / note["path"]
    assert path.parent == place / "notes"
    assert front_matter(path)["title"] == title
    assert len(path.name.encode()) <= 140
    assert not set(path.name) & set('/\\:*?"<>|\n')
    assert not path.name.startswith(".") and path.stem == path.stem.strip(". ")
    assert path.stem.split(".")[0].upper() not in {"CON", "PRN", "AUX", "NUL"}


def test_json_is_one_document_whatever_the_width(place: Path) -> None:
    note_id = create(place, "[bold]x[/] " + "long " * 60 + "\n end")
    for arguments in (("list",), ("search", "long"), ("show", note_id), ("summary",)):
        done = ctx(place, "note", *arguments, "--json", COLUMNS="20", FORCE_COLOR="1")
        assert done.json["schema"].startswith("ctx/note")
        assert "\x1b" not in done.out


def test_content_comes_from_an_argument_a_file_or_stdin(place: Path) -> None:
    write(place, "body.txt", "from a file\n第二行\n")
    for note_id, wanted in (
        (create(place, "a", "--content", "given"), "given"),
        (create(place, "b", "--file", "body.txt"), "from a file\n第二行"),
        (create(place, "c", "-", data=b"from stdin\n"), "from stdin"),
        (create(place, "d", "--file", "-", data=b"x"), "x"),
        (create(place, "e", "--content", "-", data=b"y\n\n"), "y\n"),
        (
            create(place, "g", "-", data="今天讨论连接池超时的问题".encode("gb18030"), warned=True),
            "今天讨论连接池超时的问题",
        ),
        (create(place, "h"), ""),
    ):
        assert ctx(place, "note", "show", note_id, "--json").json["content"] == wanted
    assert ctx(place, "note", "create", "x", "--content", "a", "--file", "body.txt").code == 2
    assert ctx(place, "note", "create", "x", "--file", "none.txt").code == 3
    assert ctx(place, "note", "create", "x", "stray").code == 2
    assert ctx(place, "note", "create", "").code == 2
    assert ctx(place, "note", "create").code == 2
    assert ctx(place, "note", "list", "--json").json["total"] == 7


def test_stdin_that_stays_open_is_not_waited_for(place: Path) -> None:
    reading, writing = os.pipe()
    try:
        for arguments in (
            ("create", "t"),
            ("list",),
            ("summary",),
            ("search", "t"),
            ("check",),
            ("delete", "t"),
            ("edit", "t"),
        ):
            process = subprocess.Popen(
                [*COMMAND, "note", *arguments],
                cwd=place,
                stdin=reading,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(place, EDITOR="cat"),
            )
            process.communicate(timeout=30)
    finally:
        os.close(reading)
        os.close(writing)


def test_unknown_types_are_refused_with_a_suggestion(place: Path) -> None:
    done = ctx(place, "note", "create", "x", "--type", "blockr", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "unknown_type")
    assert "blocker" in done.json["error"]["hint"]
    write(place, ".ctx/config.toml", '[notes]\ntypes = ["idea"]\n')
    assert ctx(place, "note", "create", "x", "--type", "idea").code == 0


def test_update_changes_what_is_named_and_nothing_else(place: Path) -> None:
    source = (
        "\ufeff---\r\n# my comment\r\nid: 'n-1'   # quoted\r\ntitle: \"old\" # why\r\nstatus: draft\r\n"
        "aliases: [甲, 乙]\r\n"
        "tags:\r\n- a # one\r\n- b\r\nupdated_at: 2024-01-02\r\n---\r\n\r\nBody --- with rule\r\n\r\n---\r\nend"
    ).encode()
    path = write(place, "notes/n.md", source)
    done = ctx(place, "note", "update", "n-1", "--title", "新: 标题", "--add-tag", "c", "--remove-tag", "b", "--json")
    assert done.code == 0, done
    new = path.read_bytes()
    moment = done.json["updated_at"]
    wanted = (
        source.replace(b'"old"', '"新: 标题"'.encode())
        .replace(b"- b\r\n", b"- c\r\n")
        .replace(b"2024-01-02", f'"{moment}"'.encode())
    )
    assert new == wanted
    assert moment > "2026"
    ctx(place, "note", "update", "n-1", "--append", "more")
    assert path.read_bytes().endswith(b"---\r\nend\r\nmore")
    ctx(place, "note", "update", "n-1", "--content", "one\ntwo")
    assert path.read_bytes().endswith(b"---\r\n\r\none\r\ntwo")
    assert ctx(place, "note", "update", "n-1").code == 2
    assert ctx(place, "note", "update", "n-1", "--content", "a", "--append", "b").code == 2


def test_update_keeps_the_mode_and_an_own_file_without_front_matter(place: Path) -> None:
    path = write(place, "notes/own.md", "# Own\n\ntext\n")
    path.chmod(0o640)
    assert ctx(place, "note", "update", "notes/own.md", "--append", "more").code == 0
    assert path.read_text() == "# Own\n\ntext\nmore\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert ctx(place, "note", "update", "Own", "--title", "yes", "--tag", "x").code == 0
    assert path.read_text() == '---\ntitle: "yes"\ntags: [x]\n---\n\n# Own\n\ntext\nmore\n'


def test_ids_prefixes_paths_and_titles_name_a_note(place: Path) -> None:
    first, second = create(place, "计划"), create(place, "Other", "--content", "x")
    assert ctx(place, "note", "show", first, "--json").json["id"] == first
    for name in (
        second,
        "#" + second,
        second[:-1],
        second.upper(),
        "notes/Other.md",
        "Other",
        "other",
        str(place / "notes/Other.md"),
        "Other.md",
        "./notes/Other.md",
    ):
        assert ctx(place, "note", "show", name, "--json").json["id"] == second, name
    both = ctx(place, "note", "show", first[:3], "--json")
    assert (both.code, both.json["error"]["code"]) == (3, "ambiguous")
    assert first in both.json["error"]["hint"] and second in both.json["error"]["hint"]
    assert ctx(place, "note", "show", "nothing", "--json").json["error"]["code"] == "note_not_found"


def test_titles_that_two_notes_bear_are_never_guessed(place: Path) -> None:
    first, second = create(place, "计划"), create(place, "计划")
    assert first != second
    for command in (("show",), ("update", "--append", "x"), ("delete", "--yes")):
        done = ctx(place, "note", command[0], "计划", *command[1:])
        assert done.code == 3
        assert first in done.err and second in done.err
    assert ctx(place, "note", "list", "--json").json["total"] == 2
    only = create(place, "Alone")
    assert ctx(place, "note", "delete", "Alone", "--yes").code == 3
    assert ctx(place, "note", "delete", only, "--yes").code == 0


def test_delete_needs_yes_and_restore_brings_the_bytes_back(place: Path) -> None:
    note_id = create(place, "留下", "--content", "text")
    path = place / "notes/留下.md"
    data = path.read_bytes()
    assert ctx(place, "note", "delete", note_id).code == 2
    assert path.exists()
    done = ctx(place, "note", "delete", note_id, "--yes")
    assert (done.code, done.out, path.exists()) == (0, "", False)
    assert ctx(place, "note", "show", note_id).code == 3
    assert ctx(place, "note", "list", "--trash", "--json").json["total"] == 1
    write(place, "notes/留下.md", "another\n")
    done = ctx(place, "note", "restore", note_id, "--json")
    assert done.json["path"] == "notes/留下 2.md"
    assert (place / "notes/留下 2.md").read_bytes() == data
    assert path.read_text() == "another\n"
    assert ctx(place, "note", "restore", note_id).code == 3
    ctx(place, "note", "delete", note_id, "--yes", "--purge")
    assert ctx(place, "note", "restore", note_id).code == 3
    other = create(place, "weg")
    ctx(place, "note", "delete", other, "--yes")
    assert ctx(place, "note", "delete", other, "--purge", "--yes", "--json").json["purged"] is True
    assert ctx(place, "note", "list", "--trash", "--json").json["total"] == 0


def test_import_reports_first_and_then_copies(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    vault = Path(__file__).parents[1] / "fixtures" / "vault"
    plan = ctx(folder, "note", "import", str(vault), "--dry-run", "--json")
    assert (plan.code, plan.json["schema"], plan.json["written"]) == (0, "ctx/note-import/1", 20)
    assert list(folder.iterdir()) == []
    assert "20 new (nothing was done)" in ctx(folder, "note", "import", str(vault), "--dry-run").out
    done = ctx(folder, "note", "import", str(vault))
    assert (done.code, "20 new" in done.out) == (0, True)
    assert (folder / "notes/crlf.md").read_bytes() == (vault / "crlf.md").read_bytes()
    assert "20 same" in ctx(folder, "note", "import", str(vault), "--yes").out
    assert ctx(folder, "note", "export", "out", "--json").json["written"] == 20
    write(folder, "out/crlf.md", "theirs")
    done = ctx(folder, "note", "export", "out")
    assert (done.code, "conflict" in done.out) == (7, True)
    assert ctx(folder, "note", "import", "none").code == 3


def test_show_raw_gives_the_bytes_of_the_file(place: Path) -> None:
    data = b"\xef\xbb\xbf---\r\ntitle: x\r\n---\r\n\xe4\xb8\xad\r\n"
    write(place, "notes/x.md", data)
    done = subprocess.run(
        [*COMMAND, "note", "show", "notes/x.md", "--raw"],
        cwd=place,
        capture_output=True,
        env=environment(place),
        check=True,
    )
    assert done.stdout == data


def test_outside_of_a_workspace_the_way_out_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    folder.mkdir()
    for command in (("list",), ("summary",), ("search", "x"), ("show", "x"), ("check",)):
        done = ctx(folder, "note", *command, "--json")
        assert (done.code, done.json["error"]["code"]) == (3, "no_workspace")
    assert not (folder / ".ctx").exists()


def test_the_plain_road_and_typer_say_the_same(place: Path) -> None:
    script = "import sys\nfrom ctxcli.cli.note_arguments import read_plain\nsys.exit(read_plain(sys.argv[1:])())"
    create(place, "t", "--content", "x", "--tag", "a")
    for arguments in (
        ["list", "--json"],
        ["list", "-n", "1", "--tag=a"],
        ["search", "x", "--limit", "3"],
        ["summary", "--json"],
        ["show", "t"],
        ["show", "none", "--json"],
        ["list", "--type", "nope", "--json"],
        ["search", "", "--json"],
    ):
        plain = subprocess.run(
            [sys.executable, "-c", script, *arguments],
            cwd=place,
            capture_output=True,
            env=environment(place),
            check=False,
        )
        other = ctx(place, "note", *arguments)
        assert (plain.returncode, plain.stdout.decode()) == (other.code, other.out), arguments
    from ctxcli.cli.note_arguments import read_plain

    for odd in (
        [],
        ["--help"],
        ["list", "--help"],
        ["list", "-n", "x"],
        ["create"],
        ["create", "a", "b", "c"],
        ["edit", "x"],
        ["list", "--tag"],
        ["list", "--bogus"],
        ["search"],
    ):
        assert read_plain(odd) is None, odd


def test_notes_of_other_makers_are_json_with_their_own_keys(place: Path) -> None:
    write(
        place,
        "notes/o.md",
        "---\ntitle: t\nrating: 5\ndue: 2026-01-02\ndone: false\naliases: [甲]\nnested: {a: [1, null]}\n---\nx\n",
    )
    note = ctx(place, "note", "show", "t", "--json").json
    assert note["extra"] == {
        "rating": 5,
        "due": "2026-01-02",
        "done": False,
        "aliases": ["甲"],
        "nested": {"a": [1, None]},
    }
    assert json.loads((place / ".ctx/notes-index.jsonl").read_text().splitlines()[0])["schema"] == "ctx/notes-index/1"


def test_an_id_that_looks_like_a_path_never_stands_for_another_note(tmp_path: Path) -> None:
    ctx(tmp_path, "note", "create", "V", "--content", "victim")
    (tmp_path / "notes/evil.md").write_text("---\nid: notes/V.md\ntitle: evil\n---\nx\n", encoding="utf-8")
    done = ctx(tmp_path, "note", "delete", "notes/V.md", "--yes")
    assert done.code == 3
    assert "means 2 notes" in done.err
    assert (tmp_path / "notes/V.md").exists()
    assert (tmp_path / "notes/evil.md").exists()
