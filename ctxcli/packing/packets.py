"""Packets of callers: read from JSON, checked."""

import json
from collections.abc import Mapping
from datetime import datetime
from math import isfinite
from typing import Any

from ctxcli.model.context import ContextPacket
from ctxcli.model.errors import ParseError
from ctxcli.model.json_errors import json_reason
from ctxcli.parsing.messages import kind
from ctxcli.parsing.note_times import read_time

_KEYS = ("content", "type", "timestamp", "relevance", "source")
_HINT = 'a packet is {"content": "…", "type": "evidence", "relevance": 0.8, "source": "…", "timestamp": "2025-01-31"}'


def read_packets(data: bytes, *, name: str) -> tuple[ContextPacket, ...]:
    """The packets of a file: one, a list, or one a line. ParseError names the packet that is none."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError(f"{name} is no UTF-8 text", code="binary", hint="give packets as JSON") from error
    return tuple(_packet(row, f"{name}: packet {number}") for number, row in enumerate(_rows(text, name), 1))


def _rows(text: str, name: str) -> list[Any]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        try:
            rows = [json.loads(line) for line in text.split("\n") if line.strip()]
        except (ValueError, RecursionError):
            rows = []
        if len(rows) < 2:
            raise ParseError(f"{name} is no JSON ({json_reason(error)})", code="bad_json", hint=_HINT) from None
        return rows
    if isinstance(whole, dict) and isinstance(whole.get("packets"), list):
        whole = whole["packets"]
    return whole if isinstance(whole, list) else [whole]


def _packet(row: Any, where: str) -> ContextPacket:
    if not isinstance(row, dict):
        raise ParseError(f"{where} is no object", code="bad_packet", hint=_HINT)
    for key in row:
        if key not in _KEYS:
            raise ParseError(f"{where} has the unknown key {key!r}", code="bad_packet", hint=_HINT)
    content = _text(row, "content", where)
    if not content.strip():
        raise ParseError(f"{where} has no content", code="no_content", hint=_HINT)
    type_, source = (_text(row, key, where) for key in ("type", "source"))
    return ContextPacket(content, type_ or "context", _timestamp(row, where), _relevance(row, where), source)


def _text(row: Mapping[str, Any], key: str, where: str) -> str:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise ParseError(f"{where}: {key} must be a text, not {kind(value)}", code="bad_packet", hint=_HINT)
    return value or ""


def _relevance(row: Mapping[str, Any], where: str) -> float | None:
    value = row.get("relevance")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or not 0 <= value <= 1:
        raise ParseError(
            f"{where}: relevance must be a number from 0 to 1, not {json.dumps(value)}", code="bad_packet", hint=_HINT
        )
    return float(value)


def _timestamp(row: Mapping[str, Any], where: str) -> datetime | None:
    value = row.get("timestamp")
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value).astimezone()
        except (ValueError, OverflowError, OSError):
            value = str(value)
    found = read_time(value) if isinstance(value, str) else None
    if found is None:
        raise ParseError(
            f"{where}: timestamp must be a date or time, not {json.dumps(value)}", code="bad_packet", hint=_HINT
        )
    return found
