"""The commands in README and documentation print what is shown there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.console import BUG, ROOT, Console, same, steps

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
WITH_COMMANDS = [page for page in PAGES if "```console" in page.read_text("utf-8")]
_REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))
_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)")
_CODE = re.compile(r"^```.*?^```$|(`+)(?!`).+?(?<!`)\1(?!`)", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.name)
def test_every_command_prints_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    console = Console(tmp_path)
    wrong = []
    for step in steps(page.read_text("utf-8")):
        printed = console.run(step.command)
        if not same(step.shown, printed):
            wrong.append(f"{page.name}:{step.line}: $ {step.command}\n--- shown\n{step.shown}\n--- printed\n{printed}")
    assert not wrong, "\n\n".join(wrong) + f"\n\nmend it with: python -m tests.console {page.relative_to(ROOT)}"


@pytest.mark.parametrize("page", [*PAGES, *_REFERENCE], ids=lambda p: p.name)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    wrong = []
    for target, _, heading in (link.partition("#") for link in _LINK.findall(_without_code(page))):
        file = page.parent / target if target else page
        if not file.exists() or (heading and heading not in _anchors(file)):
            wrong.append(f"{target}#{heading}")
    assert wrong == []


def _without_code(page: Path) -> str:
    return _CODE.sub("", page.read_text("utf-8"))


def _anchors(page: Path) -> set[str]:
    """The names of the headings of a page, as links spell them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_shows_a_bug(page: Path) -> None:
    assert BUG not in page.read_text("utf-8")


def test_the_readme_begins_with_demo_and_test() -> None:
    top = (ROOT / "README.md").read_text("utf-8")[:4_000]
    for command in ("make demo", "make test", "pip install .", "pipx install ."):
        assert command in top


def test_the_demo_prints_what_the_readme_shows(tmp_path: Path) -> None:
    Console(tmp_path)
    done = subprocess.run(
        ["sh", ROOT / "scripts" / "demo", tmp_path / "bin" / "ctx"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    shown = (ROOT / "README.md").read_text("utf-8").partition("`make demo` prints:\n\n```text\n")[2].partition("```")[0]
    assert (done.returncode, shown != "", same(shown, done.stdout.strip())) == (0, True, True), done.stdout


def test_the_reference_is_what_the_program_says() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "reference", "--check"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_an_ellipsis_line_stands_for_any_lines() -> None:
    assert same("a\n...\nd", "a\nb\nc\nd")
    assert same("a\n...", "a\nb")
    assert not same("a\n...\nd", "a\nb")
    assert same("took 0.1 s", "took 12.3 s")
