"""Console blocks of Markdown files, run as they stand.

    python -m tests.console README.md docs/tutorial.md      # write what the commands print into the files

A block is fenced as ``console``. Its lines that begin with ``$ `` are commands, continued by lines right below that
begin with ``> ``; the lines below each are what it prints on stdout and stderr. All blocks of a file run in one
folder that holds a copy of ``sample_kb/`` and nothing else; ``$?`` is the exit code of the command before. A line
``...`` in the output stands for any lines.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUG = "this is a bug in ctx"
SHOWN_FOLDER = "/home/you/station"
_BLOCK = re.compile(r"^(?P<indent> *)```console\n(?P<body>.*?)^ *```$", re.MULTILINE | re.DOTALL)
_VARYING = (
    (re.compile(r"\b\d+\.\d s\b"), "0.0 s"),
    (re.compile(r"\b0\.\d{2,4}\b"), "0.00"),
    (re.compile(r'"elapsed_(ms|s)": ?[\d.]+'), r'"elapsed_\1": 0'),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:+Z-]+"), "2025-01-01T00:00:00+00:00"),
    (re.compile(r"^\s+", re.MULTILINE), " "),
)


@dataclass(frozen=True)
class Step:
    """A command, what the document says it prints, and the line of the document it stands on."""

    command: str
    shown: str
    line: int


def steps(text: str) -> Iterator[Step]:
    """The commands of a document, in order."""
    for block in _BLOCK.finditer(text):
        line = text.count("\n", 0, block.start("body")) + 1
        command, shown = "", list[str]()
        for indented in block["body"].splitlines():
            row = indented.removeprefix(block["indent"])
            if row.startswith("$ "):
                if command:
                    yield Step(command, "\n".join(shown), line - len(shown) - 1)
                command, shown = row[2:], []
            elif command and not shown and row.startswith(">"):
                command += "\n" + row[2:]
            else:
                shown.append(row)
            line += 1
        if command:
            yield Step(command, "\n".join(shown), line - len(shown) - 1)


class Console:
    """A shell in a folder of its own, with `ctx` on its path."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._code = folder / "station", 0
        shutil.copytree(ROOT / "sample_kb", self._folder / "sample_kb")
        programs = folder / "bin"
        programs.mkdir()
        (programs / "ctx").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ctxcli "$@"\n')
        (programs / "ctx").chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CTX_", "XDG_", "OPENAI_"))}
        for name in ("NO_COLOR", "FORCE_COLOR"):
            kept.pop(name, None)
        self._environment = {
            **kept,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
            "COLUMNS": "100",
        }

    def run(self, command: str) -> str:
        """What a command prints, stderr as it comes."""
        done = subprocess.run(
            ["bash", "-c", f"(exit {self._code})\n{command}"],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        self._code = done.returncode
        return done.stdout.decode().replace(str(self._folder.resolve()), SHOWN_FOLDER).rstrip("\n")


def same(shown: str, printed: str) -> bool:
    """Whether a document shows what was printed; times and scores may differ."""
    parts = [re.escape(_steady(part)) for part in re.split(r"^ *\.\.\.$\n?", shown, flags=re.MULTILINE)]
    return re.fullmatch(r"(?s:.*)".join(parts), _steady(printed)) is not None


def _steady(text: str) -> str:
    for pattern, stand_in in _VARYING:
        text = pattern.sub(stand_in, text)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def rewrite(text: str, console: Console) -> str:
    """The document with what its commands print now; outputs with ``...`` stay where they still fit."""

    def block(match: re.Match[str]) -> str:
        printed = "\n\n".join(_transcript(step, console.run(step.command)) for step in steps(match.group()))
        indent = match["indent"]
        body = "".join(f"{indent}{line}".rstrip() + "\n" for line in printed.splitlines())
        return f"{indent}```console\n{body}{indent}```"

    return _BLOCK.sub(block, text)


def _transcript(step: Step, printed: str) -> str:
    if BUG in printed:
        raise SystemExit(f"line {step.line}: $ {step.command}\n{printed}")
    shown = step.shown.rstrip("\n")
    keep = "..." in shown.split("\n") and same(shown, printed)
    command = step.command.replace("\n", "\n> ")
    return f"$ {command}\n{shown if keep else printed}".rstrip("\n")


def main() -> None:
    """Bring the files that are named up to date."""
    for name in sys.argv[1:]:
        path = Path(name)
        with tempfile.TemporaryDirectory() as folder:
            path.write_text(rewrite(path.read_text("utf-8"), Console(Path(folder))), "utf-8")


if __name__ == "__main__":
    main()
