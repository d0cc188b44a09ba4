"""Make the PDF and DOCX files of sample_kb/ from the sources in this folder."""

from pathlib import Path

import typst
from word import write_document

HERE = Path(__file__).parent
TARGET = HERE.parents[1] / "sample_kb"
PDF = {"operations-manual.typ": "operations-manual.pdf", "sensor-handbook.typ": "传感器手册.pdf"}
DOCX = {"irrigation.txt": "灌溉规程.docx", "trial-protocol.txt": "trial-protocol-LG-2025-04.docx"}


def main() -> None:
    """Write all four files."""
    for source, name in PDF.items():
        typst.compile(str(HERE / source), output=str(TARGET / name))
    for source, name in DOCX.items():
        write_document((HERE / source).read_text("utf-8"), TARGET / name)


if __name__ == "__main__":
    main()
