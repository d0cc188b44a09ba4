"""What a cold `ctx` costs: instructions beside those of a bare interpreter, and of the engine alone.

    python benchmarks/start_up.py [--chunks 100000] [--folder DIR]

`ctx` is installed from a wheel into an environment of its own. The knowledge base is made up; with `--folder` it is
kept and used again. Without valgrind the medians of CPU milliseconds are printed instead.
"""

import argparse
import json
import tempfile
from pathlib import Path

from measure import describe, installed, instructions, median_cpu, run, write_documents

SECTIONS = 25
ENGINE = """
import sys, tantivy
index = tantivy.Index.open(sys.argv[1])
searcher = index.searcher()
query = tantivy.Query.boolean_query(
    [(tantivy.Occur.Should, tantivy.Query.term_query(index.schema, "terms", term, "freq")) for term in sys.argv[2:]])
for _, address in searcher.search(query, limit=30, count=False).hits:
    searcher.doc(address).get_first("text")
"""


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="keep the knowledge base here")
    parser.add_argument("--times", type=int, default=7, help="runs of each command where there is no valgrind")
    arguments = parser.parse_args()
    programs = installed()
    print(describe())
    if arguments.folder:
        measure(programs, arguments.folder.resolve(), arguments)
    else:
        with tempfile.TemporaryDirectory() as folder:
            measure(programs, Path(folder), arguments)


def measure(programs: Path, folder: Path, arguments: argparse.Namespace) -> None:
    """The commands, each beside the bare interpreter."""
    python, ctx = programs / "python", [programs / "python", programs / "ctx"]
    if not (folder / ".ctx").exists():
        write_documents(folder / "docs", -(-arguments.chunks // SECTIONS), sections=SECTIONS)
        run([*ctx, "kb", "index", "docs", "-q"], cwd=folder)
    chunks = json.loads(run([*ctx, "kb", "info", "--json"], cwd=folder).out)["chunks"]
    question, chinese = _questions(folder / "docs")
    [engine] = (folder / ".ctx/kb/default").glob("index-*/g*")
    commands = {
        "python -c pass": [python, "-c", "pass"],
        "tantivy alone, 30 hits": [python, "-c", ENGINE, engine, *question.split()],
        "ctx --version": [*ctx, "--version"],
        "ctx ask, English": [*ctx, "ask", question],
        "ctx ask, Chinese": [*ctx, "ask", chinese],
        "ctx ask, declined": [*ctx, "ask", "Who wrote the tragedy of Hamlet?"],
        "ctx ask --json --evidence": [*ctx, "ask", question, "--json", "--evidence"],
    }
    print(f"{chunks:,} chunks\n")
    bare = 0.0
    for name, command in commands.items():
        run(command, cwd=folder)
        counted = instructions(command, cwd=folder)
        value = counted / 1e6 if counted else 1000 * median_cpu(command, cwd=folder, times=arguments.times)
        bare = bare or value
        unit = "M instructions" if counted else "ms of CPU"
        print(f"{name:28} {value:8.1f} {unit}  {value / bare:5.1f} x")


def _questions(docs: Path) -> tuple[str, str]:
    """The words of a heading in an English and in a Chinese document."""
    files = sorted(docs.rglob("*.md"))
    english, chinese = (
        next(line for line in path.read_text("utf-8").splitlines() if line.startswith("## ")).split(" ", 2)[2]
        for path in (files[len(files) // 2 // 3 * 3], files[len(files) // 2 // 3 * 3 + 2])
    )
    return english, chinese


if __name__ == "__main__":
    main()
