"""Where a slice of a document stands: section, pages and lines."""

from bisect import bisect_right

from ctxcli.model.document import Document
from ctxcli.model.stored import Place


def place_of(document: Document, start: int, end: int) -> Place:
    """The place of ``document.text[start:end]``; lines and pages are 1-based."""
    index = bisect_right([section.start for section in document.sections], start) - 1
    section = document.sections[index] if index >= 0 else None
    page = bisect_right(document.page_starts, start) or None
    label = document.page_labels[page - 1] if page and document.page_labels else ""
    line = document.text.count("\n", 0, start) + 1 if document.has_lines else None
    return Place(
        section=(section.number or None) if section else None,
        heading=(section.title or None) if section else None,
        heading_path=section.path if section else (),
        anchor=section.anchor if section else "",
        page=page,
        page_end=bisect_right(document.page_starts, max(start, end - 1)) or None,
        page_label=label or None,
        line_start=line,
        line_end=None if line is None else line + document.text.count("\n", start, end),
    )


def find_quote(document: Document, quote: str) -> list[tuple[int, int]]:
    """All places of a quote in the text as (start, end), white space apart, in order."""
    wanted = "".join(quote.split())
    if not wanted:
        return []
    offsets = [at for at, char in enumerate(document.text) if not char.isspace()]
    bare = "".join(document.text.split())
    found: list[tuple[int, int]] = []
    at = bare.find(wanted)
    while at >= 0:
        found.append((offsets[at], offsets[at + len(wanted) - 1] + 1))
        at = bare.find(wanted, at + 1)
    return found
