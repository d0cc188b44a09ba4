"""The files of facts and artifacts: one JSON object, read again and replaced at once under a lock."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ctxcli.model.errors import DataError
from ctxcli.model.fact import Fact
from ctxcli.model.json_errors import json_reason
from ctxcli.storage.files import atomic_write, locked, reason
from ctxcli.storage.json_bytes import json_bytes

Entries = dict[str, list[Fact]]
"""By key, the values it has had, oldest first; the last one holds."""
DAMAGED = ".damaged-"
"""Stands in the name of a damaged file that is kept aside."""
_FIELDS = ("value", "source", "step", "at", "deleted")
_Result = TypeVar("_Result")


def read(path: Path) -> Entries:
    """What a file holds, {} where there is none; DataError where it is damaged."""
    return _parsed(path)[1]


def change(path: Path, act: Callable[[Entries], _Result], *, timeout: float) -> _Result:
    """Let `act` change the entries, and write them; nobody else writes meanwhile.

    DataError where the file is damaged: it stays as it is.
    """
    with locked(path.with_suffix(".lock"), timeout=timeout, what=path.name):
        whole, entries = _parsed(path)
        before = {key: list(rows) for key, rows in entries.items()}
        result = act(entries)
        if entries != before:
            _write(path, whole, entries)
    return result


def set_aside(path: Path, *, timeout: float) -> Path:
    """Give a damaged file a name of its own, so that a new one can begin; returns its new place."""
    with locked(path.with_suffix(".lock"), timeout=timeout, what=path.name):
        stamp = time.strftime("%Y%m%dT%H%M%S")
        aside = path.with_name(f"{path.name}{DAMAGED}{stamp}-{os.urandom(2).hex()}")
        try:
            path.rename(aside)
        except OSError as error:
            raise DataError(f"{path} cannot be moved: {reason(error)}", code="unwritable") from error
        return aside


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
        why = json_reason(error) if isinstance(error, ValueError | RecursionError) else "it holds no facts by key"
        raise DataError(
            f"{path.name} is damaged ({why})",
            code="facts_damaged",
            hint=f"mend {path}, or take it from a backup; ctx doctor --fix keeps it aside and begins anew",
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
    data = json_bytes({"schema": "ctx/facts-file/1", **whole, "facts": rows}, indent=1)
    try:
        atomic_write(path, data + b"\n")
    except OSError as error:
        raise DataError(f"{path} cannot be written: {reason(error)}", code="unwritable") from error
