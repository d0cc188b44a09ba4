"""Folders walked."""

import os
import sys
from pathlib import Path

import pytest

from ctxcli.storage import ignore
from ctxcli.storage.walk import Selection, Walked, cited, is_below, walk, walk_file

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX file system")


def make(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text", encoding="utf-8")
    return folder


def look(folder: Path, *, include: str = "", exclude: str = "", root: str = ".") -> Walked:
    chosen = Selection(
        lambda name: not name.endswith(".png"),
        ignore.parse(include) if include else None,
        ignore.parse(exclude) if exclude else None,
    )
    return walk(folder, root=root, selection=chosen, workspace=folder)


def paths(walked: Walked) -> list[str]:
    return [found.path for found in walked.found]


def test_files_come_in_the_order_of_their_paths(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/z.md", "a.md", "文.md", "a/b/c.md")
    assert paths(look(tmp_path)) == sorted(["b.md", "a/z.md", "a.md", "文.md", "a/b/c.md"])


def test_hidden_files_and_caches_of_tools_are_passed_over(tmp_path: Path) -> None:
    make(
        tmp_path, "a.md", ".hidden.md", ".git/x.md", ".ctx/x.md", "node_modules/x.md", ".venv/x.md", "__pycache__/x.md"
    )
    make(tmp_path, "myenv/pyvenv.cfg", "myenv/lib/x.py")
    assert paths(look(tmp_path)) == ["a.md"]


def test_files_that_are_no_candidates_are_counted(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.png", "c.png")
    assert look(tmp_path).skipped == 2


def test_conflict_copies_are_passed_over(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "a.sync-conflict-20240101-120000-ABCDEFG.md", "a (Ann's conflicted copy 2024-01-01).md")
    make(tmp_path, "~$report.docx")
    assert paths(look(tmp_path)) == ["a.md"]


def test_ctxignore_decides_over_gitignore(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.md", "sub/c.md")
    (tmp_path / ".gitignore").write_text("*.md\n")
    (tmp_path / ".ctxignore").write_text("!a.md\n!c.md\n")
    assert paths(look(tmp_path)) == ["a.md", "sub/c.md"]


def test_include_and_exclude_choose_files(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.txt", "docs/c.md", "docs/old/d.md")
    assert paths(look(tmp_path, include="*.md", exclude="old/")) == ["a.md", "docs/c.md"]
    assert paths(look(tmp_path, include="docs/**")) == ["docs/c.md", "docs/old/d.md"]


@posix_only
def test_links_to_folders_are_never_followed(tmp_path: Path) -> None:
    make(tmp_path, "docs/a.md")
    (tmp_path / "docs/loop").symlink_to(tmp_path / "docs", target_is_directory=True)
    (tmp_path / "link.md").symlink_to(tmp_path / "docs", target_is_directory=True)
    assert paths(look(tmp_path)) == ["docs/a.md"]


@posix_only
def test_links_to_files_are_taken_only_where_they_end_inside(tmp_path: Path) -> None:
    make(tmp_path, "outside.md", "root/a.md")
    (tmp_path / "root/in.md").symlink_to("a.md")
    (tmp_path / "root/out.md").symlink_to("../outside.md")
    (tmp_path / "root/broken.md").symlink_to("nowhere.md")
    (tmp_path / "rootless").mkdir()
    make(tmp_path, "rootless/x.md")
    (tmp_path / "root/prefix.md").symlink_to("../rootless/x.md")
    assert paths(look(tmp_path / "root")) == ["a.md", "in.md"]


def test_a_root_that_vanishes_is_not_known_to_be_empty(tmp_path: Path) -> None:
    walked = look(tmp_path / "gone", root="gone")
    assert [one.code for one in walked.failures] == ["unreadable_folder"]
    assert walked.unknown == ["gone"]


@posix_only
def test_pipes_and_sockets_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    walked = look(tmp_path)
    assert not walked.found
    named = walk_file(tmp_path / "pipe.md", root="pipe.md")
    assert [failure.code for failure in named.failures] == ["no_file"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_no_utf8_is_reported(tmp_path: Path) -> None:
    make(tmp_path, "a.md")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_text("x")
    walked = look(tmp_path)
    assert paths(walked) == ["a.md"]
    assert [(one.path, one.code) for one in walked.failures] == [("caf\\xe9.md", "name_not_utf8")]


def test_a_file_that_is_named_is_taken_whatever_its_name(tmp_path: Path) -> None:
    make(tmp_path, ".hidden.png")
    assert paths(walk_file(tmp_path / ".hidden.png", root=".hidden.png")) == [".hidden.png"]


def test_paths_are_cited_below_their_root() -> None:
    assert cited(".", "a.md") == "a.md"
    assert cited("docs", "a.md") == "docs/a.md"
    assert cited("/data", "a.md") == "/data/a.md"
    assert cited("/", "a.md") == "/a.md"


@pytest.mark.parametrize(
    ("path", "folder", "below"),
    [
        ("docs/a.md", "docs", True),
        ("docs2/a.md", "docs", False),
        ("docs", "docs", True),
        ("a.md", ".", True),
        ("/data/a.md", ".", False),
        ("C:/data/a.md", ".", False),
        ("/data/a.md", "/", True),
    ],
)
def test_what_is_below_a_folder(path: str, folder: str, below: bool) -> None:
    assert is_below(path, folder) is below
