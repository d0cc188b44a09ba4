"""What indexing costs: Markdown, PDF, an unchanged folder, memory; beside the libraries alone.

    python benchmarks/index.py [--megabytes 20] [--pages 400] [--files 10000] [--times 3] [--docs DIR]

CPU seconds are those of all processes together, so that the number of workers and other loads matter little.
`ctx` is installed from a wheel into an environment of its own; the documents are made up, or those of `--docs`.
"""

import argparse
import json
import shutil
import statistics
import tempfile
from pathlib import Path

from measure import PROJECT, describe, installed, run, write_documents

SECTIONS = 25
TANTIVY = """
import sys, tantivy
from pathlib import Path
builder = tantivy.SchemaBuilder()
builder.add_text_field("text", stored=True, tokenizer_name="default", index_option="freq")
writer = tantivy.Index(builder.build(), sys.argv[2]).writer(64_000_000, 1)
for path in Path(sys.argv[1]).rglob("*.md"):
    for part in path.read_text("utf-8").split("\\n## "):
        writer.add_document(tantivy.Document(text=part))
writer.commit(); writer.wait_merging_threads()
"""
PDFIUM = """
import sys, pypdfium2
from pathlib import Path
for path in Path(sys.argv[1]).rglob("*.pdf"):
    document = pypdfium2.PdfDocument(path)
    for page in document:
        page.get_textpage().get_text_range()
"""
SCAN = """
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        os.stat(os.path.join(folder, name))
"""


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--docs", type=Path, help="text documents to index in place of made-up ones")
    arguments = parser.parse_args()
    programs = installed()
    print(describe())
    with tempfile.TemporaryDirectory() as place:
        bench = _Bench(programs, Path(place), arguments.times)
        bench.text(arguments.docs, arguments.megabytes)
        bench.pdf(arguments.pages)
        bench.unchanged(arguments.files)


class _Bench:
    def __init__(self, programs: Path, place: Path, times: int) -> None:
        self._ctx = [programs / "python", programs / "ctx"]
        self._python, self._place, self._times = programs / "python", place, times

    def text(self, docs: Path | None, megabytes: float) -> None:
        """Megabytes of text a CPU-second, and the memory of the largest process."""
        folder = docs.resolve() if docs else self._place / "text"
        if docs:
            size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        else:
            size = write_documents(folder, max(1, round(megabytes * 1e6 / 23_600)), sections=SECTIONS)
        chunks, cpu, peak = self._index(folder)
        alone = self._alone(TANTIVY, folder)
        name = f"text, {size / 1e6:.1f} MB, {chunks:,} chunks"
        print(
            f"{name:34} {size / 1e6 / cpu:8.2f} MB/CPU-s   tantivy alone {size / 1e6 / alone:8.2f}   peak {peak:.0f} MB"
        )

    def pdf(self, pages: int) -> None:
        """Pages of PDF a CPU-second."""
        from pypdfium2 import PdfDocument

        source = PROJECT / "sample_kb" / "operations-manual.pdf"
        each = len(PdfDocument(source))
        folder = self._place / "pdf"
        folder.mkdir()
        for number in range(-(-pages // each)):
            (folder / f"{number}.pdf").write_bytes(source.read_bytes() + b"%% copy %d\n" % number)
        total = each * len(list(folder.iterdir()))
        _, cpu, peak = self._index(folder)
        alone = self._alone(PDFIUM, folder)
        name = f"PDF, {total} pages"
        print(f"{name:34} {total / cpu:8.1f} pages/CPU-s  PDFium alone {total / alone:8.1f}   peak {peak:.0f} MB")

    def unchanged(self, files: int) -> None:
        """CPU seconds of a run in which nothing has changed."""
        folder, workspace = self._place / "files", self._place / "unchanged"
        for number in range(files):
            path = folder / str(number // 100) / f"{number}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# File {number}\n\nA few words.\n", "utf-8")
        workspace.mkdir()
        run([*self._ctx, "kb", "index", folder, "-w", workspace, "-q"], cwd=self._place)
        costs = [run([*self._ctx, "kb", "index", "-w", workspace, "-q"], cwd=self._place) for _ in range(self._times)]
        alone = self._alone(SCAN, folder)
        cpu = statistics.median(cost.cpu for cost in costs)
        print(f"{f'unchanged, {files:,} files':34} {cpu:8.2f} CPU-s      a bare walk {alone:8.2f}")

    def _index(self, folder: Path) -> tuple[int, float, float]:
        costs = []
        for _ in range(self._times):
            workspace = self._place / "workspace"
            workspace.mkdir()
            costs.append(run([*self._ctx, "kb", "index", folder, "-w", workspace, "--json"], cwd=self._place))
            shutil.rmtree(workspace)
        chunks = json.loads(costs[0].out)["chunks"]
        return chunks, statistics.median(cost.cpu for cost in costs), max(cost.peak for cost in costs)

    def _alone(self, code: str, folder: Path) -> float:
        costs = []
        for _ in range(self._times):
            with tempfile.TemporaryDirectory() as scratch:
                costs.append(run([self._python, "-c", code, folder, scratch], cwd=self._place).cpu)
        return statistics.median(costs)


if __name__ == "__main__":
    main()
