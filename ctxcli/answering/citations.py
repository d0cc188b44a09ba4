"""Reads the citations out of an answer: the JSON document, or the text and Markdown forms of `ctx ask --cite`."""

import json
import re
from collections.abc import Iterator
from typing import Any

from ctxcli.model.errors import DataError
from ctxcli.model.verification import CitedQuote

_SOURCE = re.compile(r"^\s*(?:\[(?P<bracket>[0-9]+)\]|(?P<item>[0-9]+)\.)\s+(?P<place>\S.*? · .*|\S+\.\w{1,8})\s*$")
_SECTION = re.compile(r"^§\s*(?P<number>\S+)")
_PAGE = re.compile(r"^(?:pp?\.\s*(?P<en>[0-9]+)|第\s*(?P<zh>[0-9]+)\s*页)")
_LINES = re.compile(r"^(?:lines?\s+|第\s*)(?P<start>[0-9]+)(?:[–-](?P<end>[0-9]+))?(?:\s*行)?$")


def read_citations(text: str) -> tuple[CitedQuote, ...]:
    """The citations of an answer, in order; () where it declined.

    Raises DataError where the text is JSON but no answer, or holds no citation with a quote.
    """
    if text.lstrip().startswith("{"):
        return tuple(_from_document(text))
    found = tuple(_from_text(text))
    if not found:
        raise DataError(
            "there is no citation with a quote",
            code="no_citations",
            hint="give the output of `ctx ask --cite`, of `ctx ask --json`, or text in that form",
        )
    return found


def _from_document(text: str) -> Iterator[CitedQuote]:
    try:
        document = json.loads(text)
        rows = document["citations"]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"not an answer document: {error}", code="bad_answer", hint="give the output of `ctx ask --json`"
        ) from error
    for position, row in enumerate(rows if isinstance(rows, list) else [], 1):
        if not isinstance(row, dict) or not isinstance(row.get("doc"), str) or not isinstance(row.get("quote"), str):
            raise DataError(
                f"citation {position} has no `doc` or no `quote`", code="bad_answer", hint="see: ctx schema answer"
            )
        numbers = {name: _number(row.get(name)) for name in ("page", "page_end", "line_start", "line_end")}
        section = row.get("section")
        yield CitedQuote(
            n=_number(row.get("n")) or position,
            doc=row["doc"],
            quote=row["quote"],
            section=section if isinstance(section, str) else None,
            **numbers,
        )


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _from_text(text: str) -> Iterator[CitedQuote]:
    lines = text.splitlines()
    position = 0
    while position < len(lines):
        match = _SOURCE.match(lines[position])
        position += 1
        if not match:
            continue
        quote: list[str] = []
        while position < len(lines) and (not lines[position].strip() or lines[position].startswith((" ", "\t", ">"))):
            if _SOURCE.match(lines[position]) and not lines[position].startswith("    "):
                break
            quote.append(lines[position].strip().removeprefix(">").strip())
            position += 1
        if any(quote):
            yield _cited(int(match["bracket"] or match["item"]), match["place"], "\n".join(quote).strip())


def _cited(n: int, place: str, quote: str) -> CitedQuote:
    doc, *parts = place.split(" · ")
    section: str | None = None
    numbers: dict[str, int | None] = {}
    for part in parts:
        if found := _SECTION.match(part):
            section = found["number"]
        elif found := _PAGE.match(part):
            numbers["page"] = numbers["page_end"] = int(found["en"] or found["zh"])
        elif found := _LINES.match(part):
            numbers["line_start"] = int(found["start"])
            numbers["line_end"] = int(found["end"] or found["start"])
    return CitedQuote(n=n, doc=doc.strip(), quote=quote, section=section, **numbers)
