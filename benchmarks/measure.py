"""What the benchmarks share: the machine, an installed `ctx`, costs of a command, documents that are made up."""

import os
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent


def describe() -> str:
    """Machine, interpreter and commit, in one line."""
    command = ["git", "describe", "--always", "--dirty"]
    found = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    model = ""
    if Path("/proc/cpuinfo").exists():
        names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text("utf-8"))
        model = f" {names[0]}" if names else ""
    return (
        f"{platform.machine()}{model}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"commit {found.stdout.strip() or 'unknown'}"
    )


def installed() -> Path:
    """The folder of programs of an environment into which this tree is installed as a wheel, compiled."""
    folder = PROJECT / ".venv-bench"
    subprocess.run([PROJECT / "scripts" / "setup", folder, "."], cwd=PROJECT, check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", PROJECT]
    subprocess.run(pip, check=True)
    return folder / "bin"


def environment() -> dict[str, str]:
    """An environment in which nothing but the command itself decides."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, "LC_ALL": "C.UTF-8"}


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds (user and system, children too), wall-clock is left out; `peak` in MB, of the largest process."""

    cpu: float
    peak: float
    out: str


def run(command: Sequence[str | Path], *, cwd: Path) -> Cost:
    """Run a command to its end."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(command, cwd=cwd, env=environment(), stdout=out, stderr=complaints)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for stream in (out, complaints):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8"))
    if process.returncode not in (0, 4):
        sys.exit(f"{' '.join(map(str, command))}: exit code {process.returncode}\n{texts[1]}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, texts[0])


def median_cpu(command: Sequence[str | Path], *, cwd: Path, times: int) -> float:
    """The median of the CPU seconds of several runs."""
    return statistics.median(run(command, cwd=cwd).cpu for _ in range(times))


def instructions(command: Sequence[str | Path], *, cwd: Path) -> int | None:
    """User-space instructions of one run, by callgrind, which repeats on a noisy machine; None without valgrind."""
    if not shutil.which("valgrind"):
        return None
    line = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *map(str, command)]
    done = subprocess.run(line, cwd=cwd, env=environment(), capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    return int(found[1]) if found else None


@cache
def vocabulary() -> tuple[list[str], list[str], list[float]]:
    """Made-up English and Chinese words and how often the word of each rank is used."""
    chance = random.Random(11)
    starts, ends = "b c d f g l m n p r s t v pr st tr".split(), "a e i o u an er in on us ent ing".split()
    english = [
        "".join(chance.choice(starts) + chance.choice(ends) for _ in range(chance.randint(1, 4))) for _ in range(30_000)
    ]
    chinese = [
        "".join(chr(0x4E00 + int(chance.paretovariate(0.7) * 7) % 3000) for _ in range(2)) for _ in range(30_000)
    ]
    return english, chinese, [1 / (rank + 3) for rank in range(30_000)]


def markdown(number: int, *, sections: int, words: int = 150) -> str:
    """A document with headings, paragraphs, lists, a table and code; every third one is Chinese."""
    chance = random.Random(number)
    english, chinese, weights = vocabulary()
    is_chinese = number % 3 == 2
    drawn = iter(chance.choices(chinese if is_chinese else english, weights, k=(words + 20) * sections))
    joint, stop = ("", "。") if is_chinese else (" ", ". ")
    lines = [f"# Document {number}\n"]
    for section in range(1, sections + 1):
        title = joint.join(next(drawn) for _ in range(3))
        lines.append(f"## {section}.{number % 9} {title}\n")
        lines.append(stop.join(joint.join(_take(drawn, 12)) for _ in range(words // 24)) + stop.strip() + "\n")
        shape = section % 4
        if shape == 1:
            lines.append("\n".join(f"- {joint.join(_take(drawn, 8))}" for _ in range(words // 20)) + "\n")
        elif shape == 2:
            rows = "\n".join(f"| {joint.join(_take(drawn, 3))} | {n} |" for n in range(words // 20))
            lines.append(f"| Name | Limit |\n|---|---|\n{rows}\n")
        elif shape == 3:
            lines.append(
                "```python\n" + "\n".join(f"{word}_{section} = {section}" for word in _take(drawn, 8)) + "\n```\n"
            )
        else:
            lines.append(stop.join(joint.join(_take(drawn, 12)) for _ in range(words // 24)) + stop.strip() + "\n")
    return "\n".join(lines)


def _take(words: Iterator[str], count: int) -> list[str]:
    return [next(words) for _ in range(count)]


def write_documents(folder: Path, count: int, *, sections: int) -> int:
    """Write made-up documents; returns their bytes."""
    size = 0
    for number in range(count):
        path = folder / f"{number // 500:03}" / f"{number:06}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        data = markdown(number, sections=sections).encode()
        path.write_bytes(data)
        size += len(data)
    return size
