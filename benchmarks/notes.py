"""What the commands on notes cost with many notes, beside a bare interpreter and ripgrep over the same folder.

    python benchmarks/notes.py [--notes 10000] [--times 5]

`ctx` is installed from a wheel into an environment of its own, and ripgrep (the PyPI package) with it. `create` is
measured with few and with many notes: its cost must not depend on them. Instructions by callgrind where valgrind is
there, then the medians of CPU milliseconds and the peak memory.
"""

import argparse
import random
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from measure import describe, installed, instructions, run, vocabulary

TYPES = ("task_state", "conclusion", "blocker", "action", "reference", "general")
FEW = 100


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=5, help="runs of each command for the median")
    arguments = parser.parse_args()
    programs = installed()
    print(describe())
    rg = _ripgrep(programs)
    with tempfile.TemporaryDirectory() as few, tempfile.TemporaryDirectory() as many:
        english, chinese = write_notes(Path(few), FEW), write_notes(Path(many), arguments.notes)
        measure(programs, Path(few), Path(many), (english[0], chinese[1]), rg=rg, times=arguments.times)


def _ripgrep(programs: Path) -> Path | None:
    pip = [programs / "python", "-m", "pip", "install", "--quiet", "ripgrep"]
    subprocess.run(pip, check=False)
    return programs / "rg" if (programs / "rg").exists() else None


def write_notes(folder: Path, count: int) -> tuple[str, str]:
    """Write a workspace of notes of about a kilobyte, a third of them Chinese; returns a word of each language."""
    chance = random.Random(5)
    english, chinese, weights = vocabulary()
    (folder / ".ctx").mkdir()
    (folder / "notes").mkdir()
    for number in range(count):
        is_chinese = number % 3 == 2
        words = chance.choices(chinese if is_chinese else english, weights, k=170)
        joint = "" if is_chinese else " "
        title, body = joint.join(words[:4]), "\n".join(joint.join(words[at : at + 17]) for at in range(0, 170, 17))
        day = f"2026-{1 + number % 11:02}-{1 + number % 28:02}T10:00:00.000+00:00"
        (folder / "notes" / f"{number:06}.md").write_text(
            f"---\nid: 01kb{number:014}\ntitle: {title}\ntype: {TYPES[number % 6]}\ntags: [{words[4]}, {words[5]}]\n"
            f'created_at: "{day}"\nupdated_at: "{day}"\n---\n\n{body}\n',
            encoding="utf-8",
        )
    return english[30], chinese[30]


def measure(programs: Path, few: Path, many: Path, words: tuple[str, str], *, rg: Path | None, times: int) -> None:
    """The commands, each beside the bare interpreter."""
    python, ctx = programs / "python", [programs / "python", programs / "ctx", "note"]
    first = run([*ctx, "list", "--limit", "1"], cwd=many)
    run([*ctx, "list", "--limit", "1"], cwd=few)
    print(f"{len(list((many / 'notes').iterdir())):,} notes; first index {first.cpu:.2f} s CPU, {first.peak:.0f} MB\n")
    commands: dict[str, tuple[Path, Sequence[str | Path]]] = {
        "python -c pass": (many, [python, "-c", "pass"]),
        f"create, {FEW} notes": (few, [*ctx, "create", "a new note", "--content", "text"]),
        "create, all notes": (many, [*ctx, "create", "a new note", "--content", "text"]),
        "list": (many, [*ctx, "list"]),
        "list --json": (many, [*ctx, "list", "--json"]),
        "search, English": (many, [*ctx, "search", words[0]]),
        "search, Chinese": (many, [*ctx, "search", words[1]]),
        "summary": (many, [*ctx, "summary"]),
        "summary --json": (many, [*ctx, "summary", "--json"]),
    }
    if rg:
        commands["ripgrep, English"] = many, [rg, "-i", words[0], "notes"]
        commands["ripgrep, Chinese"] = many, [rg, words[1], "notes"]
    bare = 0.0
    for name, (folder, command) in commands.items():
        run(command, cwd=folder)
        counted = (instructions(command, cwd=folder) or 0) / 1e6
        runs = [run(command, cwd=folder) for _ in range(times)]
        cpu = 1000 * statistics.median(one.cpu for one in runs)
        value = counted or cpu
        bare = bare or value
        peak = max(one.peak for one in runs)
        print(f"{name:20} {counted:9.1f} M instructions {value / bare:6.1f} x {cpu:8.0f} ms CPU {peak:6.0f} MB")


if __name__ == "__main__":
    main()
