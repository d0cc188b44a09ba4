"""What checking citations against the files as they are now found; the value behind `ctx/verification/1`."""

from dataclasses import dataclass
from typing import Literal

from ctxcli.model.stored import Place

CitationStatus = Literal["ok", "moved", "stale", "missing"]
"""ok: the quote stands where it is cited; moved: it stands elsewhere; stale: it is not in the document any more
(or never was); missing: the document is gone, cannot be read, or may not be opened."""


@dataclass(frozen=True, slots=True)
class CitedQuote:
    """A citation as it stands in an answer; what is not said is None.

    `section` is a number, or a number with its heading; `heading` that of a section without a number.
    """

    n: int
    doc: str
    quote: str
    section: str | None = None
    heading: str | None = None
    page: int | None = None
    page_end: int | None = None
    line_start: int | None = None
    line_end: int | None = None


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """A citation and how it stands; `now` is where the quote is, None where it is as cited or nowhere."""

    cited: CitedQuote
    status: CitationStatus
    now: Place | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """All citations of an answer, in order."""

    citations: tuple[CheckedCitation, ...]

    @property
    def ok(self) -> bool:
        """Whether every quote stands where it is cited."""
        return all(one.status == "ok" for one in self.citations)
