"""Ask the question sets with the installed `ctx` and score what it says.

    python benchmarks/quality.py [--quick] [--suite dev|vault]... [--by source] [--misses METRIC]
                                 [--embed MODEL] [--mode vector|hybrid] [--fusion scores|rrf] [--rerank]
                                 [--indexes FOLDER]

The sets are looked for in $CTX_EVAL, else in ../shared/eval beside the project. Each suite is indexed into an
empty workspace, asked by `ctx ask --batch --evidence --json` with defaults, and scored by the suite's own scorer;
the floors below make the exit code 1 where they do not hold. With a mode other than words nothing is required.
Who asks in several ways keeps the workspaces with --indexes, and embeds once.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
CTX = [sys.executable, "-m", "ctxcli"]

DEV_FLOORS = {
    "en": ["doc_hit@1>=.93", "evidence_hit@1>=.835", "evidence_hit@5>=.95", "contain>=.75", "contain_ev>=.70",
           "auroc_found>=.72", "false_answer:unans_natural<=.45", "false_answer:unans_removed_article<=.15",
           "false_decline<=.20"],
    "zh": ["doc_hit@1>=.955", "evidence_hit@1>=.87", "evidence_hit@5>=.965", "contain>=.81", "contain_ev>=.77",
           "auroc_found>=.90", "false_answer:unans_removed_article<=.15", "false_decline<=.15"],
}  # fmt: skip
VAULT_FLOORS = [
    "all.doc@1>=.80", "all.lines@1>=.45", "all.lines@5>=.60", "all.section@1>=.58", "all.answer>=.35",
    "all.false_answers<=.60", "all.false_declines<=.30", "all.auroc>=.70",
]  # fmt: skip


def main() -> None:
    """Run the suites and exit with 1 where a floor does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="only the questions marked quick, and no vault")
    parser.add_argument("--suite", action="append", choices=["dev", "vault"])
    parser.add_argument("--by", help="break the figures of dev down by a field of the questions")
    parser.add_argument("--misses", help="list the questions of the vault that fail a metric")
    parser.add_argument("--embed", help="embed the documents with this model")
    parser.add_argument("--mode", help="how chunks are ranked")
    parser.add_argument("--fusion", help="how hybrid puts words and meaning together")
    parser.add_argument("--rerank", action="store_true", help="rank the best again by CTX_RERANK_MODEL")
    parser.add_argument("--indexes", type=Path, help="keep the workspaces in this folder, and use those that are there")
    parser.add_argument("--keep", type=Path, help="keep the answers in this folder")
    arguments = parser.parse_args()
    sets = Path(os.environ.get("CTX_EVAL") or PROJECT.parent / "shared" / "eval")
    if not (sets / "score.py").exists():
        print(f"no question sets in {sets}: nothing measured (set CTX_EVAL to a folder that has them)")
        return
    print(f"{platform.machine()}, Python {platform.python_version()}, commit {_commit()}, defaults")
    suites = arguments.suite or (["dev"] if arguments.quick else ["dev", "vault"])
    with tempfile.TemporaryDirectory() as folder:
        keep = arguments.keep or Path(folder)
        keep.mkdir(parents=True, exist_ok=True)
        held = [_dev(sets, language, arguments, keep) for language in ("en", "zh") if "dev" in suites]
        held += [_vault(sets, arguments, keep)] if "vault" in suites else []
    sys.exit(0 if all(held) or arguments.mode or arguments.rerank else 1)


def _dev(sets: Path, language: str, arguments: argparse.Namespace, keep: Path) -> bool:
    questions = sets / "dev" / language / "questions.jsonl"
    answers = keep / f"dev-{language}.jsonl"
    asked = keep / "asked.jsonl"
    rows = [line for line in questions.open(encoding="utf-8") if not arguments.quick or json.loads(line).get("quick")]
    asked.write_text("".join(rows), encoding="utf-8")
    _ask(sets / "dev" / language / "docs", asked, answers, arguments)
    predictions = keep / f"dev-{language}-predictions.jsonl"
    with predictions.open("w", encoding="utf-8") as stream:
        subprocess.run([sys.executable, sets / "predictions.py", answers], stdout=stream, check=True)
    command = [sys.executable, str(sets / "score.py"), str(questions), str(predictions)]
    command += ["--quick"] if arguments.quick else []
    command += ["--by", arguments.by] if arguments.by else []
    for floor in DEV_FLOORS[language]:
        name, sign, limit = floor.partition(">=") if ">=" in floor else floor.partition("<=")
        slack = 0.03 if arguments.quick else 0.0  # 300 questions: a standard error of two points
        value = float(limit) - slack if sign == ">=" else float(limit) + slack
        command += ["--require", f"{language}.{name}{sign}{value:.3f}"]
    return subprocess.run(command, check=False).returncode == 0


def _vault(sets: Path, arguments: argparse.Namespace, keep: Path) -> bool:
    vault = sets / "vault"
    answers = []
    with (vault / "questions.jsonl").open(encoding="utf-8") as lines:
        questions = [json.loads(line) for line in lines]
    for corpus in sorted(path.name for path in (vault / "corpora").iterdir()):
        asked = keep / "asked.jsonl"
        rows = (json.dumps(q, ensure_ascii=False) + "\n" for q in questions if q["corpus"] == corpus)
        asked.write_text("".join(rows), encoding="utf-8")
        answers.append(keep / f"vault-{corpus}.jsonl")
        _ask(vault / "corpora" / corpus, asked, answers[-1], arguments)
    command = [sys.executable, str(vault / "score_vault.py"), str(vault / "questions.jsonl"), *map(str, answers)]
    command += ["--misses", arguments.misses] if arguments.misses else []
    for floor in VAULT_FLOORS:
        command += ["--require", floor]
    return subprocess.run(command, check=False).returncode == 0


def _way(arguments: argparse.Namespace) -> list[str]:
    """The options of `ctx ask` that say how chunks are ranked."""
    named = (("--mode", arguments.mode), ("--fusion", arguments.fusion))
    chosen = [word for option, value in named if value for word in (option, value)]
    return [*chosen, "--rerank"] if arguments.rerank else chosen


def _ask(documents: Path, questions: Path, answers: Path, arguments: argparse.Namespace) -> None:
    with ExitStack() as opened:
        if arguments.indexes:
            workspace = arguments.indexes / "-".join(documents.parts[-2:])
            workspace.mkdir(parents=True, exist_ok=True)
        else:
            workspace = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        began = time.perf_counter()
        index = [*CTX, "kb", "index", str(documents), "-w", str(workspace), "--json"]
        index += ["--embed", arguments.embed] if arguments.embed else []
        indexed = subprocess.run(index, capture_output=True, check=False)
        report = json.loads(indexed.stdout)
        middle = time.perf_counter()
        with answers.open("w", encoding="utf-8") as stream:
            command = [*CTX, "ask", "--batch", str(questions), "--evidence", "--json", "-w", str(workspace)]
            command += _way(arguments)
            subprocess.run(command, stdout=stream, check=True)
        ended = time.perf_counter()
    with answers.open(encoding="utf-8") as lines:
        asked = sum(1 for _ in lines)
    files = report["files"]["indexed"] + report["files"]["unchanged"]
    print(
        f"{documents.name}: {files} files, {report['chunks']} chunks in {middle - began:.1f} s; "
        f"{asked} questions, {(ended - middle) / max(1, asked) * 1000:.1f} ms each"
    )


def _commit() -> str:
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
