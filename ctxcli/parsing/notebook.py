"""Jupyter notebooks: Markdown cells as Markdown, code cells as code, text outputs cut."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ctxcli.model.document import Document
from ctxcli.model.errors import ParseError
from ctxcli.parsing import markdown
from ctxcli.parsing.blocks import Piece, cover, encoding_warnings, stem, without_surrogates
from ctxcli.parsing.sections import nest
from ctxcli.text.encoding import decode, unify_newlines

VERSION = "notebook/2"

MAX_OUTPUT = 2000
"""Characters of the text output of a cell that are kept."""
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def parse(data: bytes, *, name: str) -> Document:
    """Parse a notebook; its text is made from the cells, so there are no lines."""
    decoded = decode(data)
    parts: list[str] = []
    pieces: list[Piece] = []
    headings: list[tuple[int, int, str, str]] = []
    length = 0
    for kind, source in _cells(decoded.text):
        if parts:
            parts.append("\n\n")
            length += 2
        if kind == "markdown":
            markup = markdown.read(source)
            headings += [(start + length, *rest) for start, *rest in markup.headings]  # type: ignore[misc]
            pieces += [(block.start + length, block.end + length, block.kind) for block in markup.blocks]
        else:
            pieces.append((length, length + len(source), "code"))
        parts.append(source)
        length += len(source)
    text = "".join(parts)
    title = next((line for _, level, line, _ in headings if level == 1), "")
    return Document(
        format="notebook",
        title=title or stem(name),
        text=text,
        sections=nest(headings),
        blocks=cover(text, pieces),
        encoding=decoded.encoding,
        title_from_name=not title,
        warnings=encoding_warnings(decoded),
    )


def _cells(source: str) -> Iterator[tuple[str, str]]:
    """Kind (``markdown`` or ``code``) and text of each cell and output that holds text."""
    try:
        notebook = json.loads(source)
    except (ValueError, RecursionError) as error:
        raise ParseError(
            f"the notebook is no valid JSON: {error}", code="damaged", hint="open and save it anew"
        ) from error
    if not isinstance(notebook, dict):
        raise ParseError("the file is no notebook", code="damaged", hint="open and save it anew")
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        sheets = notebook.get("worksheets")
        first = sheets[0] if isinstance(sheets, list) and sheets else {}
        cells = first.get("cells", []) if isinstance(first, dict) else []
    for cell in cells if isinstance(cells, list) else []:
        if isinstance(cell, dict):
            yield from _cell(cell)


def _cell(cell: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    source = _text(cell.get("source", cell.get("input")))
    if cell.get("cell_type") == "heading":  # of notebooks before version 4
        level = cell.get("level")
        source = f"{'#' * (level if isinstance(level, int) and 1 <= level <= 6 else 1)} {source}"
    if source.strip():
        yield ("code" if cell.get("cell_type") == "code" else "markdown"), source
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        shown = _text(output.get("text") or (data.get("text/plain") if isinstance(data, dict) else None))
        if output.get("output_type") in {"error", "pyerr"}:
            shown = f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}".strip(": ")
        shown = _COLOUR.sub("", shown)
        if shown.strip():
            yield "code", shown if len(shown) <= MAX_OUTPUT else shown[:MAX_OUTPUT] + " …"


def _text(value: Any) -> str:
    if isinstance(value, list):
        value = "".join(part for part in value if isinstance(part, str))
    return without_surrogates(unify_newlines(value)).rstrip("\n") if isinstance(value, str) else ""
