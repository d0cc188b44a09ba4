"""Import, export and links over a vault of awkward notes."""

import shutil
from pathlib import Path

import pytest

from ctxcli import NoteTool
from ctxcli.model.errors import NotFoundError, UsageError

VAULT = Path(__file__).parents[2] / "fixtures" / "vault"


@pytest.fixture
def tool(tmp_path: Path) -> NoteTool:
    tool = NoteTool(tmp_path / "w")
    tool.run({"action": "create", "title": "README", "content": "mine"})
    return tool


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_vault_is_taken_in_byte_for_byte_and_nothing_is_overwritten(tool: NoteTool, tmp_path: Path) -> None:
    notes = tmp_path / "w/notes"
    mine = (notes / "README.md").read_bytes()
    plan = tool.run({"action": "import", "folder": str(VAULT), "dry_run": True})
    assert plan["dry_run"] and plan["written"] == 20
    assert list(files_of(notes)) == ["README.md"]
    report = tool.run({"action": "import", "folder": str(VAULT)})
    assert report["counts"] == plan["counts"]
    assert report["counts"]["renamed"] == 1 and report["counts"]["failed"] == 0
    there = files_of(notes)
    wanted = {name: data for name, data in files_of(VAULT).items() if not name.startswith(".")}
    assert there.pop("README.md") == mine
    there["README.md"] = there.pop("README 2.md")
    assert there == wanted
    again = tool.run({"action": "import", "folder": str(VAULT)})
    assert (again["written"], again["counts"]["same"]) == (0, len(wanted))


def test_a_note_whose_id_is_taken_is_not_imported_twice(tool: NoteTool, tmp_path: Path) -> None:
    tool.run({"action": "import", "folder": str(VAULT)})
    other = tmp_path / "other"
    (other / "x").mkdir(parents=True)
    (other / "x/alpha.md").write_text("---\nid: alpha-1\n---\nanother\n")
    report = tool.run({"action": "import", "folder": str(other)})
    assert [one["state"] for one in report["files"]] == ["conflict"]
    assert not (tmp_path / "w/notes/x").exists()


def test_links_of_a_folder_lead_nowhere_else(tool: NoteTool, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (tmp_path / "secret.png").write_bytes(b"secret")
    (tmp_path / "secret.md").write_bytes(b"secret")
    (source / "a.md").write_text("![x](../secret.png) [y](/etc/passwd.txt) ![z](inner.png)\n")
    (source / "inner.png").symlink_to(tmp_path / "secret.png")
    (source / "b.md").symlink_to(tmp_path / "secret.md")
    report = tool.run({"action": "import", "folder": str(source)})
    states = {one["source"]: (one["state"], one["message"]) for one in report["files"]}
    assert states == {
        "a.md": ("new", ""),
        "b.md": ("skipped", "it is a link"),
        "inner.png": ("skipped", "it is a link"),
    }
    assert sorted(files_of(tmp_path / "w/notes")) == ["README.md", "a.md"]


def test_what_is_passed_over_is_counted_and_named(tool: NoteTool, tmp_path: Path) -> None:
    source = tmp_path / "库"
    for name in ("a.md", "图.png", "子/other.pdf", "子/used.pdf", ".obsidian/app.json", "node_modules/x/readme.md"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("![[used.pdf]] [u](子/used.pdf)" if name == "a.md" else "x")
    (source / "folder").symlink_to(tmp_path)
    report = tool.run({"action": "import", "folder": str(source)})
    assert {one["source"]: one["state"] for one in report["files"]} == {
        "a.md": "new", "子/used.pdf": "new", "图.png": "skipped", "子/other.pdf": "skipped", "folder": "skipped",
        "node_modules/": "skipped",
    }  # fmt: skip
    assert (report["counts"]["skipped"], report["written"]) == (4, 2)


@pytest.mark.parametrize("head", ["", "---\nid: n-1\n---\n"])
def test_a_file_that_changed_since_it_was_imported_makes_no_twin(tool: NoteTool, tmp_path: Path, head: str) -> None:
    source, notes = tmp_path / "vault", tmp_path / "w/notes"
    source.mkdir()

    def states(**more: bool) -> dict[str, str]:
        report = tool.run({"action": "import", "folder": str(source), **more})
        return {one["source"]: one["state"] for one in report["files"]}

    (source / "计划.md").write_text(f"{head}first")
    (source / "README.md").write_text("theirs")
    assert states() == {"README.md": "renamed", "计划.md": "new"}
    assert states() == {"README.md": "same", "计划.md": "same"}
    (source / "计划.md").write_text(f"{head}second 改")
    (source / "README.md").write_text("theirs, changed")
    assert states() == {"README.md": "changed", "计划.md": "changed"}
    assert (notes / "计划.md").read_text() == f"{head}first"
    assert states(update=True, dry_run=True) == {"README.md": "updated", "计划.md": "updated"}
    assert (notes / "计划.md").read_text() == f"{head}first"
    assert states(update=True) == {"README.md": "updated", "计划.md": "updated"}
    assert {path.name for path in notes.iterdir()} == {"README.md", "README 2.md", "计划.md"}
    assert (notes / "计划.md").read_text() == f"{head}second 改"
    assert f"{head}first" in [path.read_text() for path in (tmp_path / "w/.ctx/trash").rglob("*.before")]
    (notes / "计划.md").write_text(f"{head}mine")
    assert states() == {"README.md": "same", "计划.md": "same"}
    (source / "计划.md").write_text(f"{head}third")
    assert states(update=True) == {"README.md": "same", "计划.md": "conflict"}
    assert (notes / "计划.md").read_text() == f"{head}mine"


def test_a_damaged_record_of_imports_hides_nothing(tool: NoteTool, tmp_path: Path) -> None:
    source = tmp_path / "vault"
    source.mkdir()
    (source / "a.md").write_text("甲")
    tool.run({"action": "import", "folder": str(source)})
    for damage in ("{", "[]", '{"files": {"x": 1}}', '{"files": {"x": ["a"]}}'):
        (tmp_path / "w/.ctx/note-imports.json").write_text(damage)
        assert tool.run({"action": "import", "folder": str(source)})["counts"]["same"] == 1
        assert (tmp_path / "w/.ctx/note-imports.json.damaged").read_text() == damage


def test_importing_the_notes_themselves_is_refused(tool: NoteTool, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        tool.run({"action": "import", "folder": str(tmp_path / "w/notes")})
    with pytest.raises(NotFoundError):
        tool.run({"action": "import", "folder": str(tmp_path / "none")})
    (tmp_path / "w/other.md").write_text("# other\n")
    with pytest.raises(UsageError):
        tool.run({"action": "import", "folder": ""})
    report = tool.run({"action": "import", "folder": str(tmp_path / "w")})
    assert [one["source"] for one in report["files"]] == ["other.md"]


def test_an_export_can_be_opened_and_repeated_and_overwrites_nothing(tool: NoteTool, tmp_path: Path) -> None:
    tool.run({"action": "import", "folder": str(VAULT)})
    tool.run({"action": "create", "title": "a/b: c?", "content": "x"})
    tool.run({"action": "create", "title": "linker", "content": "see [[a/b: c?]] and [[Alpha#Top|that]] `[[a/b: c?]]`"})
    out = tmp_path / "out"
    report = tool.run({"action": "export", "folder": str(out)})
    assert report["counts"]["conflict"] == report["counts"]["failed"] == 0
    text = (out / "linker.md").read_text()
    assert "see [[a b c|a/b: c?]] and [[Alpha#Top|that]] `[[a/b: c?]]`" in text
    assert (out / "picture.png").exists() and (out / "projects/alpha.md").exists()
    assert tool.run({"action": "export", "folder": str(out)})["written"] == 0
    (out / "linker.md").write_text("theirs")
    again = tool.run({"action": "export", "folder": str(out)})
    assert again["counts"]["conflict"] == 1
    assert (out / "linker.md").read_text() == "theirs"
    with pytest.raises(UsageError):
        tool.run({"action": "export", "folder": str(tmp_path / "w/notes/sub")})


def test_links_backlinks_broken_and_orphans(tool: NoteTool, tmp_path: Path) -> None:
    shutil.copytree(VAULT, tmp_path / "w/notes", dirs_exist_ok=True)
    found = tool.run({"action": "links", "note_id": "alpha-1"})
    targets = [(one["kind"], one["target"], one["path"], one["broken"]) for one in found["links"]]
    assert targets == [
        ("wiki", "beta", "notes/projects/beta.md", False),
        ("wiki", "Beta", "notes/projects/beta.md", False),
        ("embed", "picture.png", None, False),
        ("markdown", "../crlf.md", "notes/crlf.md", False),
        ("markdown", "../yaml types.md", "notes/yaml types.md", False),
        ("wiki", "missing", None, True),
    ]
    assert [(one["path"], one["line"]) for one in found["backlinks"]] == [("notes/projects/beta.md", 3)]
    assert [one["target"] for one in found["broken"]] == ["missing"]
    everything = tool.run({"action": "links"})
    orphans = {one["path"] for one in everything["orphans"]}
    assert "notes/projects/beta.md" not in orphans and "notes/gbk.md" in orphans
    assert everything["total"] == 8


def test_a_link_may_name_a_title_an_alias_or_an_id(tool: NoteTool, tmp_path: Path) -> None:
    shutil.copytree(VAULT, tmp_path / "w/notes", dirs_exist_ok=True)
    note = tool.run(
        {
            "action": "create",
            "title": "x",
            "content": "[[国标]] [[甲]] [[alpha-1]] [[projects/beta.md]] [[PROJECTS/BETA]] [[x]]",
        }
    )
    found = tool.run({"action": "links", "note_id": note["id"]})
    assert [one["path"] for one in found["links"]] == [
        "notes/gbk.md",
        "notes/crlf.md",
        "notes/projects/alpha.md",
        "notes/projects/beta.md",
        "notes/projects/beta.md",
        "notes/x.md",
    ]
