"""Reads the citations out of an answer: the JSON document, or the text and Markdown forms of `ctx ask --cite`."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ctxcli.answering.citation_marks import stray_marks
from ctxcli.model.errors import DataError
from ctxcli.model.verification import CitedQuote

_SOURCE = re.compile(
    r"^\s*(?:(?:\[\^?(?P<bracket>[0-9]{1,9})\]:?\s+|【(?P<wide>[0-9]{1,9})】\s*)(?P<place>\S.*? · .*|\S.*\.\w{1,8})"
    r"|(?P<item>[0-9]{1,9})\.\s+(?P<listed>\S.*? · .*|\S.*\.\w{1,8}))\s*$"
)
_NUMBERS = r"(?P<first>[0-9]{1,9})(?:\s*[–—-]\s*(?P<last>[0-9]{1,9}))?"
_PAGE = re.compile(
    rf"^(?:(?:pp?\.|pages?)\s*{_NUMBERS}|第\s*(?P<from>[0-9]{{1,9}})(?:\s*[–—-]\s*(?P<to>[0-9]{{1,9}}))?\s*[页頁])"
    r"(?:\s*\((?:printed|印作) .*\))?$"
)
_LINES = re.compile(rf"^(?:lines?|第)\s*{_NUMBERS}(?:\s*行)?$")
_ASIDE = re.compile(r"^\((?:changed since it was indexed|建立索引后已更改)\)$")
_WHOLE = re.compile(r"\d{1,9}")
_REFUSAL = re.compile(r"^\s*(?:\*\*)?(?:No answer: |无法回答：)")


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """The citations of an answer, in order, and the numbers that its text cites and no citation bears, ascending."""

    citations: tuple[CitedQuote, ...]
    strays: tuple[int, ...] = ()


def read_answer(text: str) -> CitedAnswer:
    """What an answer cites; nothing where it declined.

    Raises DataError where the text is JSON but no answer, or holds no citation with a quote.
    """
    text = text.removeprefix("\ufeff")
    if text.lstrip().startswith("{"):
        return _from_document(text)
    body: list[str] = []
    found = tuple(_from_text(text, body))
    if not found and not _REFUSAL.match(text):
        raise DataError(
            "there is no citation with a quote",
            code="no_citations",
            hint="give the output of `ctx ask --cite`, of `ctx ask --json`, or text in that form",
        )
    return _cited_answer("\n".join(body), found)


def _cited_answer(text: str, citations: tuple[CitedQuote, ...]) -> CitedAnswer:
    strays = stray_marks(text, known={one.n for one in citations}, quotes=[one.quote for one in citations])
    return CitedAnswer(citations, tuple(strays))


def _from_document(text: str) -> CitedAnswer:
    try:
        document = json.loads(text)
        rows = document["citations"]
    except KeyError:
        raise _bad("it has no `citations`") from None
    except (ValueError, TypeError) as error:
        raise _bad(str(error)) from None
    except RecursionError:
        raise _bad("nested too deeply") from None
    if not isinstance(rows, list):
        raise _bad("`citations` is no list")
    answer = document.get("answer")
    if not isinstance(answer, str | None):
        raise _bad("`answer` is no text")
    return _cited_answer(answer or "", tuple(_from_row(row, position) for position, row in enumerate(rows, 1)))


def _from_row(row: Any, position: int) -> CitedQuote:
    if not isinstance(row, dict) or not isinstance(row.get("doc"), str) or not isinstance(row.get("quote"), str):
        raise _bad(f"citation {position} has no `doc` or no `quote`")
    if not row["quote"].strip():
        raise _bad(f"the quote of citation {position} is empty")
    numbers = {name: _number(row, name, position) for name in ("page", "page_end", "line_start", "line_end")}
    for first, last in (("page", "page_end"), ("line_start", "line_end")):
        if numbers[last] is not None and numbers[first] is None:
            raise _bad(f"citation {position} has `{last}` and no `{first}`")
    return CitedQuote(
        n=_number(row, "n", position) or position,
        doc=row["doc"],
        quote=row["quote"],
        section=_text(row, "section", position),
        heading=_text(row, "heading", position),
        **numbers,
    )


def _bad(message: str) -> DataError:
    return DataError(
        f"not an answer document: {message}", code="bad_answer", hint="give the output of `ctx ask --json`"
    )


def _number(row: Mapping[str, Any], name: str, position: int) -> int | None:
    """A whole number from 1, also written as a text; None where nothing is said."""
    value = row.get(name)
    if isinstance(value, str):
        value = value.strip()
        value = int(value) if _WHOLE.fullmatch(value) else value or None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    raise _bad(f"`{name}` of citation {position} is no whole number from 1")


def _text(row: Mapping[str, Any], name: str, position: int) -> str | None:
    """A text, or a whole number as one; None where nothing is said. Of other numbers it is not known how they end."""
    value = row.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str | None):
        raise _bad(f"`{name}` of citation {position} is no text")
    return (value or "").strip() or None


def _from_text(text: str, body: list[str]) -> Iterator[CitedQuote]:
    """Each source line with the quote below it: indented, or a block quote; all other lines go to `body`."""
    lines = text.splitlines()
    position = 0
    while position < len(lines):
        match = _SOURCE.match(lines[position])
        position += 1
        if not match:
            body.append(lines[position - 1])
            continue
        begin = position
        while position < len(lines) and _is_quoted(lines[position]):
            position += 1
        below = [line.strip() for line in lines[begin:position]]
        first = next(filter(None, below), "")
        listed = match["listed"] or ""
        if " " in listed and " · " not in listed and not first.startswith(">"):
            body += lines[begin - 1 : position]
            continue  # an item of a list that happens to end like a file
        quote = [line.removeprefix(">").strip() for line in below]
        if not any(quote) and "://" in lines[begin - 1]:
            body += lines[begin - 1 : position]  # the address of a link
        if any(quote):
            yield _cited(
                int(match["bracket"] or match["wide"] or match["item"]),
                match["place"] or match["listed"],
                "\n".join(quote).strip(),
            )


def _is_quoted(line: str) -> bool:
    """Whether a line below a source belongs to its quote."""
    if not line.strip() or line.startswith(("    ", "\t")) or line.lstrip().startswith(">"):
        return True
    return line.startswith(" ") and not _SOURCE.match(line)


def _cited(n: int, place: str, quote: str) -> CitedQuote:
    doc, *parts = place.split(" · ")
    cited = CitedQuote(n, doc.strip(), quote)
    headings: list[str] = []
    for part in map(str.strip, parts):
        if found := _PAGE.match(part):
            first, last = found["first"] or found["from"], found["last"] or found["to"]
            cited = replace(cited, page=int(first), page_end=int(last or first))
        elif found := _LINES.match(part):
            cited = replace(cited, line_start=int(found["first"]), line_end=int(found["last"] or found["first"]))
        elif not _ASIDE.match(part):
            headings.append(part)
    heading = " · ".join(headings)
    if heading.startswith("§"):
        return replace(cited, section=heading.lstrip("§").strip())
    return replace(cited, heading=heading or None)
