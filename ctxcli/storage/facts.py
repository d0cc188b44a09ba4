"""The files of facts and artifacts: one JSON object, read again and replaced at once under a lock."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ctxcli.model.errors import DataError
from ctxcli.model.fact import Fact
from ctxcli.storage.files import atomic_write, locked, reason

Entries = dict[str, list[Fact]]
"""By key, the values it has had, oldest first; the last one holds."""
_FIELDS = ("value", "source", "step", "at", "deleted")
_Result = TypeVar("_Result")


def read(path: Path) -> Entries:
    """What a file holds, {} where there is none; DataError where it is damaged."""
    return _parsed(path)[1]


def change(path: Path, act: Callable[[Entries], _Result], *, timeout: float, notices: list[str]) -> _Result:
    """Let `act` change the entries, and write them; nobody else writes meanwhile.

    A damaged file is moved aside and named in `notices`; it is never overwritten.
    """
    with locked(path.with_suffix(".lock"), timeout=timeout, what=path.name):
        try:
            whole, entries = _parsed(path)
        except DataError as error:
            if error.code != "facts_damaged":
                raise
            aside = _set_aside(path)
            notices.append(f"{error.message}; kept as {aside.name}")
            whole, entries = {}, {}
        before = {key: list(rows) for key, rows in entries.items()}
        result = act(entries)
        if entries != before:
            _write(path, whole, entries)
    return result


def _parsed(path: Path) -> tuple[dict[str, Any], Entries]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}, {}
    except OSError as error:
        raise DataError(f"{path} cannot be read: {reason(error)}", code="unreadable") from error
    try:
        whole = json.loads(data.decode("utf-8-sig"))
        entries = {key: [_fact(key, row) for row in rows] for key, rows in whole["facts"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = f"{type(error).__name__}: {error}" if not isinstance(error, ValueError) else str(error)
        raise DataError(
            f"{path.name} is damaged ({why})", code="facts_damaged", hint=f"mend {path}, or take it from a backup"
        ) from None
    return whole, {key: rows for key, rows in entries.items() if rows}


def _fact(key: str, row: dict[str, Any]) -> Fact:
    step = row.get("step")
    extra = {name: value for name, value in row.items() if name not in _FIELDS}
    return Fact(
        key,
        row.get("value"),
        str(row.get("source") or ""),
        step if isinstance(step, int) else None,
        str(row.get("at") or ""),
        row.get("deleted") is True,
        extra or None,
    )


def _row(fact: Fact) -> dict[str, Any]:
    row: dict[str, Any] = {"value": fact.value, "source": fact.source, "step": fact.step, "at": fact.at}
    if fact.deleted:
        row = {"deleted": True, "source": fact.source, "step": fact.step, "at": fact.at}
    return {**row, **(fact.extra or {})}


def _write(path: Path, whole: dict[str, Any], entries: Entries) -> None:
    rows = {key: [_row(fact) for fact in entries[key]] for key in sorted(entries)}
    text = json.dumps({"schema": "ctx/facts-file/1", **whole, "facts": rows}, ensure_ascii=False, indent=1)
    try:
        atomic_write(path, f"{text}\n".encode("utf-8", "surrogatepass"))
    except OSError as error:
        raise DataError(f"{path} cannot be written: {reason(error)}", code="unwritable") from error


def _set_aside(path: Path) -> Path:
    """Give a damaged file a name of its own."""
    stamp = time.strftime("%Y%m%dT%H%M%S")
    for number in range(1_000):
        aside = path.with_name(f"{path.name}.damaged-{stamp}{f'-{number}' if number else ''}")
        if not aside.exists():
            path.rename(aside)
            return aside
    raise DataError(f"{path} is damaged and cannot be moved aside", code="unwritable")
