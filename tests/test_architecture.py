"""The floors of the package hold, and every module has its floor and its docstring."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "ctxcli").rglob("*.py"))


def test_imports_go_down_only() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_says_what_it_is_for_and_is_not_too_long(module: Path) -> None:
    source = module.read_text("utf-8")
    tree = ast.parse(source)
    assert ast.get_docstring(tree)
    assert source.count("\n") <= 400
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 60, f"{node.name} is too long"


PURE = ("model", "text", "parsing", "retrieval", "answering")
OUTSIDE = {"subprocess", "socket", "urllib.request", "tempfile", "shutil", "requests", "httpx"}


@pytest.mark.parametrize("floor", PURE)
def test_the_lower_floors_touch_neither_disk_nor_network(floor: str) -> None:
    for module in (ROOT / "ctxcli" / floor).rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not OUTSIDE & set(names), module
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and floor != "text":  # which has tables
                assert node.func.id != "open", module
