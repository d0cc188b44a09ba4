"""A file made ready for the index: parsed, cut and analysed."""

from dataclasses import dataclass
from typing import NamedTuple

from ctxcli.model.document import ParseWarning


class IndexedChunk(NamedTuple):
    """A chunk as the index takes it; a tuple, since many go from process to process and a dataclass costs more.

    `terms` holds one line for title and headings, then one line a unit; terms are parted
    by blanks. `numbers` are the section numbers in it, with those of all ancestors. `meta` is
    the stored form of its place (`ctxcli.model.stored`), `length` the count of its terms.
    """

    ordinal: int
    text: str
    terms: str
    numbers: tuple[str, ...]
    meta: bytes
    length: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file read, parsed, cut and analysed: all that the index needs of it.

    `outline` is the stored form of its sections. Made in a worker process, so it is picklable.
    """

    format: str
    parser: str
    title: str
    title_from_name: bool
    encoding: str
    pages: int | None
    warnings: tuple[ParseWarning, ...]
    outline: bytes
    chunks: tuple[IndexedChunk, ...]
