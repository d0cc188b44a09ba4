#!/usr/bin/env python3
"""What building a context, appending to a session and counting tokens cost, in instructions beside `python -c pass`.

    .venv/bin/python benchmarks/context.py [--chunks 100000] [--keep FOLDER]

Instructions are counted by valgrind (callgrind): unlike times they do not depend on what else the machine does.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 15.0
"""Times `python -c pass` that a context of 4,000 tokens from 100,000 chunks may cost."""
_PARTS_A_FILE = 200


def main() -> None:
    """Print a table; exit 1 where a limit is exceeded."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="where the knowledge base is made, and used again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        prepare(folder, options.chunks)
        sys.exit(measure(folder))


def prepare(folder: Path, chunks: int) -> None:
    """A workspace with a knowledge base of so many chunks, facts, a short and a long session."""
    if (folder / ".ctx").is_dir():
        return
    documents = folder / "docs"
    documents.mkdir(parents=True, exist_ok=True)
    for number in range(chunks // _PARTS_A_FILE):
        (documents / f"d{number}.md").write_text("\n".join(sections(number)), "utf-8")
    ctx(folder, "kb", "index", "docs", "-q")
    ctx(folder, "fact", "set", "station.bays", "6", "-s", "manual", "-q")
    for name, length in (("short", 10), ("long", 100_000)):
        ctx(folder, "session", "new", name, "-q")
        line = json.dumps({"id": "x", "role": "user", "content": "How large is the basin? " * 20}) + "\n"
        (folder / ".ctx" / "sessions" / f"{name}.jsonl").write_text(line * length, "utf-8")
    (folder / "text.txt").write_text("The pool holds ten connections. 连接池有十个连接。\n" * 20, "utf-8")


def sections(number: int) -> Iterator[str]:
    """Sections of about a thousand characters, one chunk each."""
    chance = random.Random(number)
    english, chinese = sentences()
    for part in range(_PARTS_A_FILE):
        yield f"## {part + 1} Section {number}-{part}\n"
        for _ in range(6):
            yield f"{chance.choice(english)} {chance.choice(english)} ({chance.randrange(10_000)})"
            yield f"{chance.choice(chinese)}（{chance.randrange(10_000)}）"
        if not chance.randrange(200):
            yield f"The default pressure of pump-{chance.randrange(10)} is {chance.randrange(90)} bar."
            yield f"水泵的默认压力上限为 {chance.randrange(90)} 巴。"
        yield ""


@cache
def sentences() -> tuple[list[str], list[str]]:
    """English and Chinese sentences of the sample documents, those about pumps apart."""
    text = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "sample_kb").rglob("*.md")))
    found = sorted(set(re.findall(r"[A-Z][a-z][^.|\n]{20,}\.|[\u4e00-\u9fff][^。|\n]{8,}。", text)))
    about = re.compile("pump|pressure|default|泵|压力|默认")
    kept = [sentence for sentence in found if not about.search(sentence)]
    return [one for one in kept if one.isascii()], [one for one in kept if one.endswith("。")]


def measure(folder: Path) -> int:
    """The table, and the exit code."""
    base = instructions(folder, "-c", "pass")
    rows = {
        "ctx tokens FILE": ("tokens", "text.txt"),
        "ctx context build, en": ("context", "build", "What is the default pressure of pump-7?", "--budget", "4000"),
        "ctx context build, zh": ("context", "build", "水泵的默认压力上限是多少？", "--budget", "4000"),
        "ctx session add, 10 messages": ("session", "add", "short", "hello"),
        "ctx session add, 100,000 messages": ("session", "add", "long", "hello"),
    }
    failed = 0
    print(f"{'python -c pass':36} {base / 1e6:8.1f} M instructions")
    for name, arguments in rows.items():
        for _ in range(2):
            ctx(folder, *arguments)  # compiled modules, caches
        found = instructions(folder, "-m", "ctxcli", *arguments)
        print(f"{name:36} {found / 1e6:8.1f} M   {found / base:5.1f} x")
        failed |= "build" in name and found > LIMIT * base
    return int(failed)


def environment() -> dict[str, str]:
    """The environment of a child: this source tree, no settings of the user."""
    dropped = ("CTX_", "XDG_", "PYTHONDONTWRITE")  # compiled modules must be there, as after an installation
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    compiled = str(Path(tempfile.gettempdir()) / "ctx-benchmark-compiled")
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0", "PYTHONPYCACHEPREFIX": compiled}


def ctx(folder: Path, *arguments: str) -> None:
    """Run `ctx` in a folder."""
    command = [sys.executable, "-m", "ctxcli", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, check=False)
    if done.returncode not in (0, 4):
        sys.exit(done.stderr.decode())


def instructions(folder: Path, *arguments: str) -> int:
    """Instructions of a Python process."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, check=False)
    found = re.search(rb"Collected : (\d+)", done.stderr)
    if not found:
        sys.exit(done.stderr.decode()[-2_000:])
    return int(found[1])


if __name__ == "__main__":
    main()
