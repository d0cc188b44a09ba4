"""Short views of documents that tests compare."""

from bisect import bisect_right

from ctxcli.model.document import Document


def headings(document: Document) -> list[tuple[int, str, str]]:
    """Level, number and title of each section."""
    return [(section.level, section.number, section.title) for section in document.sections]


def blocks(document: Document, *kinds: str) -> list[str]:
    """The text of the blocks of some kinds, or of all."""
    return [document.text[b.start : b.end] for b in document.blocks if not kinds or b.kind in kinds]


def kind_of(document: Document, words: str) -> str:
    """The kind of the block in which `words` first stand."""
    at = document.text.index(words)
    return next(block.kind for block in document.blocks if block.start <= at < block.end)


def path_of(document: Document, words: str) -> tuple[str, ...]:
    """The headings above the place where `words` first stand."""
    at = document.text.index(words)
    found = bisect_right([section.start for section in document.sections], at) - 1
    return document.sections[found].path if found >= 0 else ()
