"""The front matter that most notes have, read without the YAML parser, which costs fifty times as much.

Only forms of which no reader of YAML can be in doubt are read here; for any other `read` returns None. What it
does read, it reads as the YAML parser does: a property test holds it to that.
"""

import json
import re
from typing import Any

_Texts = str | tuple[str, ...] | None
_KEY = re.compile(r"([^\W\d_][\w-]*):(?:[ ]+(.*?))?[ ]*\Z")
_ITEM = re.compile(r"[ ]*-[ ]+(.+?)[ ]*\Z")
_PLAIN = re.compile(r"[^\W\d_][\w ./()+%@&!'、。《》「」【】（），：；！？“”—…·-]*")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.+Z-]*[0-9Z])?")
_INTEGER = re.compile(r"(?:0|[1-9][0-9]{0,17})")
_ID = re.compile(r"[0-9][0-9a-z]*[g-mp-wyz][0-9a-z]*")
_DOUBLE = re.compile(r'"[^"\\\t]*(?:\\(?:["\\ntr]|u[0-9a-c][0-9a-f]{3})[^"\\\t]*)*"')
_SINGLE = re.compile(r"'[^']*'")
_FLOW = re.compile(r"\[[ ]*(.*?)[ ]*\]")
_FLOW_ITEM = re.compile(r"[ ]*(\"[^\"\\]*\"|'[^']*'|[^\"'\[\]{},]+?)[ ]*(?:,|\Z)")
_TRUTH = {"true": True, "false": False}
_DOUBTFUL = frozenset("y yes n no on off null none true false nan inf".split())
_Scalar = tuple[str | None, Any]


def read(block: str) -> tuple[dict[str, _Texts], dict[str, Any]] | None:
    """Texts and values by key, or None where the YAML parser must read the block."""
    if not block.replace("\r\n", "").replace("\n", "").isprintable():
        return None
    texts: dict[str, _Texts] = {}
    values: dict[str, Any] = {}
    lines = block.replace("\r\n", "\n").split("\n")
    at, count = 0, len(lines)
    while at < count:
        line = lines[at]
        at += 1
        if not line or line[0] == "#":
            continue
        key = _KEY.match(line)
        if not key or key[1] in texts or key[1].lower() in _DOUBTFUL:
            return None
        name, rest = key[1], key[2] or ""
        if rest:
            found = _flow(rest) if rest[0] == "[" else _scalar(rest)
        else:
            items = at
            while at < count and (item := lines[at]) and item.lstrip(" ").startswith("- "):
                at += 1
            found = _block_list(lines[items:at]) if at > items else (None, None)
        if found is None or (at < count and lines[at][:1] in (" ", "\t", "-")):
            return None
        texts[name], values[name] = found
    return texts, values


def _scalar(text: str) -> _Scalar | None:
    """A text and its value; None where in doubt."""
    first = text[0]
    if first == '"':
        return _double(text)
    if first == "'":
        inner = text[1:-1]
        return (inner, inner) if _SINGLE.fullmatch(text) else None
    if _PLAIN.fullmatch(text):
        if text in _TRUTH:
            return text, _TRUTH[text]
        return None if text.lower() in _DOUBTFUL else (text, text)
    if _INTEGER.fullmatch(text):
        return text, int(text)
    return (text, text) if _DATE.fullmatch(text) or _ID.fullmatch(text) else None


def _double(text: str) -> _Scalar | None:
    if not _DOUBLE.fullmatch(text):
        return None
    inner = json.loads(text) if "\\" in text else text[1:-1]
    return inner, inner


def _flow(text: str) -> tuple[tuple[str, ...], Any] | None:
    whole = _FLOW.fullmatch(text)
    if not whole:
        return None
    found, at, inner = [], 0, whole[1]
    while at < len(inner):
        item = _FLOW_ITEM.match(inner, at)
        one = _scalar(item[1]) if item else None
        if not item or not one:
            return None
        found.append(one)
        at = item.end()
    return None if inner.endswith(",") else _listed(found)


def _block_list(lines: list[str]) -> tuple[tuple[str, ...], Any] | None:
    found = []
    indent = lines[0].index("-")
    for line in lines:
        item = _ITEM.match(line)
        one = _scalar(item[1]) if item and line.index("-") == indent else None
        if one is None:
            return None
        found.append(one)
    return _listed(found)


def _listed(found: list[_Scalar]) -> tuple[tuple[str, ...], Any]:
    return tuple(text for text, _ in found if text is not None), [value for _, value in found]
