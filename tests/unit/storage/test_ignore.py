"""Patterns of .gitignore, checked against Git itself."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ctxcli.storage.ignore import parse
from ctxcli.storage.walk import Selection, walk

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

_ENVIRONMENT = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git(folder: Path, *arguments: str, data: bytes = b"") -> bytes:
    return subprocess.run(
        ["git", *arguments], cwd=folder, input=data, capture_output=True, env=_ENVIRONMENT, check=False
    ).stdout


def make(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def seen_by_git(folder: Path) -> set[str]:
    git(folder, "init", "-q")
    listed = git(folder, "ls-files", "-z", "--others", "--exclude-standard").decode()
    return {name for name in listed.split("\0") if name and not any(part.startswith(".") for part in name.split("/"))}


def seen_by_ctx(folder: Path) -> set[str]:
    walked = walk(folder, root=".", selection=Selection(lambda _: True), workspace=folder)
    return {found.path for found in walked.found}


TREE = dict.fromkeys(
    (
        "a.md",
        "b.txt",
        "docs/a.md",
        "docs/build/out.md",
        "docs/deep/er/a.md",
        "build/out.md",
        "src/build/x.py",
        "src/foo.py",
        "foo",
        "bar/foo/baz.md",
        "文档/说明.md",
        "文档/草稿/一二.md",
        "with space.md",
        "brackets[1].md",
        "!bang.md",
        "#hash.md",
        "trailing ",
        "log/debug.log",
        "log/keep.log",
        "a-b.md",
        "back\\slash.md",
    ),
    "x",
)

CASES = [
    "*.md",
    "build",
    "build/",
    "/build",
    "/build/",
    "docs/build",
    "docs/*",
    "docs/**",
    "**/build",
    "**/build/**",
    "docs/**/a.md",
    "*.log\n!keep.log",
    "log/\n!log/keep.log",
    "log/*\n!log/keep.log",
    "/*\n!/docs\n/docs/*\n!/docs/deep",
    "foo",
    "foo/",
    "bar/**/baz.md",
    "文档/草稿",
    "草稿/",
    "*.md\n!/a.md",
    "with space.md",
    "with\\ space.md",
    "trailing ",
    "trailing\\ ",
    "brackets[[]1].md",
    "brackets\\[1\\].md",
    "[ab].md",
    "[!a].*",
    "[^a].*",
    "[a-c].txt",
    "[[:alpha:]].md",
    "[[:nosuch:]].md",
    "[a",
    "[]a].md",
    "[a-]-b.md",
    "\\!bang.md",
    "\\#hash.md",
    "#hash.md",
    "!bang.md",
    "?.md",
    "a?b.md",
    "**",
    "***",
    "a**",
    "**a.md",
    "do**/a.md",
    "docs**",
    "*/a.md",
    "/",
    "//",
    "docs//",
    "",
    "   ",
    "back\\\\slash.md",
    "a.md\\",
    "*.md\r\n!docs/a.md\r\n",
    "\ufeff*.md",
    "src/*.py",
    "s*c/f?o.py",
]


@needs_git
@pytest.mark.parametrize("patterns", CASES)
def test_a_pattern_hides_what_it_hides_from_git(patterns: str, tmp_path: Path) -> None:
    make(tmp_path, TREE)
    (tmp_path / ".gitignore").write_bytes(patterns.encode())
    assert seen_by_ctx(tmp_path) == seen_by_git(tmp_path)


@needs_git
def test_nested_files_of_patterns_speak_for_their_own_folder(tmp_path: Path) -> None:
    make(tmp_path, TREE)
    make(
        tmp_path,
        {
            ".gitignore": "*.md\n/src/build\n",
            "docs/.gitignore": "!a.md\n/build\n",
            "docs/deep/.gitignore": "a.md\n",
            "文档/.gitignore": "!/说明.md\n",
        },
    )
    assert seen_by_ctx(tmp_path) == seen_by_git(tmp_path)


@needs_git
def test_the_exclude_file_of_the_repository_counts(tmp_path: Path) -> None:
    make(tmp_path, TREE)
    git(tmp_path, "init", "-q")
    (tmp_path / ".git/info/exclude").write_text("*.log\n")
    assert seen_by_ctx(tmp_path) == seen_by_git(tmp_path)


@needs_git
def test_files_of_patterns_above_the_root_count(tmp_path: Path) -> None:
    make(tmp_path, TREE)
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("/docs/build\ndocs/deep/er/*.md\n")
    walked = walk(tmp_path / "docs", root="docs", selection=Selection(lambda _: True), workspace=tmp_path)
    expected = {name for name in seen_by_git(tmp_path) if name.startswith("docs/")}
    assert {found.path for found in walked.found} == expected


_PIECES = st.sampled_from(["a", "b", "ab", "*", "**", "?", "/", "/", "[ab]", "[!a]", ".", "\\a", "-", "文"])
_PATTERN = st.lists(_PIECES, min_size=1, max_size=6).map("".join)
_LINE = st.tuples(st.sampled_from(["", "", "!", "/"]), _PATTERN, st.sampled_from(["", "/"])).map("".join)
_NAMES = st.sampled_from(["a", "b", "ab", "a.b", "文档", "aa", "b-a"])
_PATHS = st.lists(st.lists(_NAMES, min_size=1, max_size=3).map("/".join), min_size=1, max_size=6)


@needs_git
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_LINE, min_size=1, max_size=4), _PATHS)
def test_any_patterns_hide_what_they_hide_from_git(lines: list[str], paths: list[str]) -> None:
    # for Git `?` and `[…]` are a byte, here they are a character: a difference that is meant
    assume("".join(paths).isascii() or not set("?[") & set("".join(lines)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / ".gitignore").write_text("\n".join(lines), encoding="utf-8")
        for path in paths:
            target = folder / path
            if not any(parent.is_file() for parent in target.parents) and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text("x")
        assert seen_by_ctx(folder) == seen_by_git(folder)


@given(st.text(max_size=40), st.text(alphabet="ab/文.*[]\\", max_size=20))
def test_no_line_breaks_the_reader(line: str, path: str) -> None:
    parse(line).decide(path, folder=False)


def test_a_question_mark_is_one_character_of_any_kind() -> None:
    assert parse("?.md").decide("文.md", folder=False) is True
