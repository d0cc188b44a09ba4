"""What a cold start loads. Modules are counted, not milliseconds."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.run import ctx, environment, write

HEAVY = {
    "typer", "click", "rich", "numpy", "faiss", "yaml", "jieba", "tiktoken", "pydantic", "httpx", "requests", "chardet",
    "pypdfium2", "pyromark", "selectolax", "rank_bm25", "platformdirs", "logging", "asyncio", "subprocess",
    "importlib.resources", "importlib.metadata", "tempfile", "shutil", "hashlib", "ssl", "socket", "email", "difflib",
    "multiprocessing", "argparse", "tomllib", "sqlite3", "concurrent.futures", "unittest",
}  # fmt: skip
PARTS = ("ctxcli.parsing", "ctxcli.services.ingest", "ctxcli.services.indexing", "ctxcli.cli.app", "ctxcli.cli.kb")
PROBE = """
import sys
sys.argv = ["ctx", *{arguments!r}]
from ctxcli.__main__ import main
try:
    main()
except SystemExit as end:
    code = end.code
import json
sys.stderr.write(json.dumps([code or 0, sorted(sys.modules)]))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("start") / "w"
    write(folder, "docs/a.md", "# Pump\n\nThe pump starts at six.\n\n水泵六点启动。\n")
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    return folder


def loaded(folder: Path, *arguments: str) -> set[str]:
    """The modules that a command loads, beyond those of a bare interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(arguments=list(arguments))],
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment(folder),
        check=True,
    )
    bare = subprocess.run(
        [sys.executable, "-c", "import json, sys; print(json.dumps(sorted(sys.modules)))"],
        capture_output=True,
        text=True,
        env=environment(folder),
        check=True,
    )
    code, modules = json.loads(done.stderr)
    assert code in (0, 4), done.stderr
    return set(modules) - set(json.loads(bare.stdout))


ASKED = [
    ["ask", "When does the pump start?"],
    ["ask", "水泵几点启动？", "--cite"],
    ["ask", "When does the pump start?", "--json", "--evidence"],
    ["ask", "--threshold", "1", "When does the pump start?"],
]


@pytest.mark.parametrize("arguments", [["--version"], *ASKED], ids=" ".join)
def test_the_plain_road_loads_nothing_heavy(place: Path, arguments: list[str]) -> None:
    found = loaded(place, *arguments)
    assert found & HEAVY == set()
    assert {name.partition(".")[0] for name in found} & HEAVY == set()
    assert [name for name in found if name.startswith(PARTS)] == []


def test_the_version_loads_nothing_but_itself(place: Path) -> None:
    assert loaded(place, "--version") <= {"ctxcli", "ctxcli.__main__", "__future__"}


@pytest.mark.parametrize("arguments", ASKED, ids=" ".join)
def test_the_way_to_an_answer_has_a_limit_of_modules(place: Path, arguments: list[str]) -> None:
    found = loaded(place, *arguments)
    assert len([name for name in found if name.startswith("ctxcli")]) <= 48
    assert len(found) <= 110


@pytest.mark.parametrize("arguments", [["--help"], ["kb", "--help"], ["kb", "list"]], ids=" ".join)
def test_help_and_lists_load_no_parser_and_no_model(place: Path, arguments: list[str]) -> None:
    found = {name.partition(".")[0] for name in loaded(place, *arguments)}
    parsers = {
        "numpy",
        "yaml",
        "jieba",
        "tiktoken",
        "pydantic",
        "httpx",
        "pypdfium2",
        "pyromark",
        "selectolax",
        "chardet",
    }
    assert found & parsers == set()
