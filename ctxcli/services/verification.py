"""Check the citations of an answer against the files as they are now."""

from pathlib import Path

from ctxcli.answering.citations import read_citations
from ctxcli.model.document import Document
from ctxcli.model.errors import ParseError
from ctxcli.model.stored import Place
from ctxcli.model.verification import CheckedCitation, CitedQuote, Verification
from ctxcli.parsing import formats
from ctxcli.parsing.places import find_quote, place_of


def verify(text: str, *, root: Path) -> Verification:
    """Check every citation of an answer (its JSON document, or its text); paths are relative to `root`."""
    documents: dict[str, Document | str] = {}
    checked = []
    for cited in read_citations(text):
        if cited.doc not in documents:
            documents[cited.doc] = _read(root / cited.doc)
        checked.append(_check(cited, documents[cited.doc]))
    return Verification(tuple(checked))


def _read(path: Path) -> Document | str:
    """The document as it is now, or why there is none."""
    try:
        return formats.parse(path.read_bytes(), name=path.name)
    except FileNotFoundError:
        return "the file is gone"
    except OSError as error:
        return f"the file cannot be read: {error.strerror}"
    except ParseError as error:
        return error.message


def _check(cited: CitedQuote, document: Document | str) -> CheckedCitation:
    if isinstance(document, str):
        return CheckedCitation(cited, "missing", message=document)
    places = [place_of(document, start, end) for start, end in find_quote(document, cited.quote.rstrip("…"))]
    if not places:
        return CheckedCitation(cited, "stale", message="the quote is not in the document")
    if any(_is_as_cited(cited, place) for place in places):
        return CheckedCitation(cited, "ok")
    now = min(places, key=lambda place: _distance(cited, place))
    return CheckedCitation(cited, "moved", now=now, message="the quote stands elsewhere")


def _is_as_cited(cited: CitedQuote, place: Place) -> bool:
    if cited.page is not None and place.page is not None:
        return cited.page == place.page and _same_section(cited, place)
    if cited.line_start is not None and place.line_start is not None:
        return cited.line_start == place.line_start and _same_section(cited, place)
    return _same_section(cited, place)


def _same_section(cited: CitedQuote, place: Place) -> bool:
    return cited.section is None or cited.section == place.section


def _distance(cited: CitedQuote, place: Place) -> int:
    """How far a place is from where it is cited, in pages or lines."""
    if cited.page is not None and place.page is not None:
        return abs(cited.page - place.page)
    if cited.line_start is not None and place.line_start is not None:
        return abs(cited.line_start - place.line_start)
    return 0
