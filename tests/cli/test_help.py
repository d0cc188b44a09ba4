"""The help of every command: complete, within a terminal, and with examples that run."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ctxcli.cli.examples import EXAMPLES
from tests.cli.run import ROOT, ctx, environment

_GROUPS = ("", "note", "kb", "context", "session", "fact", "fact artifact", "config")


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The help of every command by its path."""
    folder = tmp_path_factory.mktemp("help") / "w"
    folder.mkdir()
    pages, waiting = dict[str, str](), [""]
    while waiting:
        path = waiting.pop()
        done = ctx(folder, *path.split(), "--help", COLUMNS="80")
        assert done.code == 0, done.err
        pages[path] = done.out
        if path in _GROUPS:
            rows = done.out.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
            waiting += [f"{path} {row.split()[0]}".strip() for row in rows]
    return pages


def test_no_line_of_a_list_of_commands_is_cut_off(commands: dict[str, str]) -> None:
    for path in _GROUPS:
        rows = commands[path].partition("Commands:\n")[2].splitlines()
        assert [row for row in rows if row.endswith("...")] == [], path


def test_search_stands_beside_index(commands: dict[str, str]) -> None:
    rows = commands["kb"].partition("Commands:\n")[2].splitlines()
    assert [row.split()[0] for row in rows[:2]] == ["index", "search"]


def test_values_are_named_and_not_typed(commands: dict[str, str]) -> None:
    assert len(commands) > 60
    assert [path for path, page in commands.items() if "<" in page.replace("<=", "").replace("<FILE", "")] == []
    assert "--top-k N" in commands["kb search"]
    assert "Usage: ctx tokens [OPTIONS] [FILE]..." in commands["tokens"]


def test_examples_are_shown_with_their_commands(commands: dict[str, str]) -> None:
    assert set(EXAMPLES) <= set(commands)
    for path, lines in EXAMPLES.items():
        assert all(f"    {line}\n" in commands[path] for line in lines), path


def test_every_example_runs(tmp_path: Path) -> None:
    folder = tmp_path / "station"
    shutil.copytree(ROOT / "sample_kb", folder / "sample_kb")
    ctx_function = f'ctx() {{ {shlex.quote(sys.executable)} -m ctxcli "$@"; }}\n'
    wrong = []
    for path, lines in EXAMPLES.items():
        for line in lines:
            assert f"ctx {path}" in line
            done = subprocess.run(
                ["bash", "-c", ctx_function + line],
                cwd=folder,
                env=environment(folder),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                wrong.append(f"{line}: {done.returncode} {done.stderr}")
    assert wrong == []
