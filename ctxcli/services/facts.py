"""Facts and artifacts of a workspace: set, read, listed, with their history."""

import json
import math
from datetime import datetime
from typing import Any

from ctxcli.model.errors import NotFoundError, UsageError
from ctxcli.model.fact import Fact, FactKind
from ctxcli.model.fact_reports import FactChange, FactList, size_of
from ctxcli.services.workspace import Workspace
from ctxcli.storage import facts as files

MOST_BYTES: dict[FactKind, int] = {"fact": 8_192, "artifact": 262_144}
"""How large a value may be unless another limit is named."""
_LONGEST_KEY = 200


class Facts:
    """The facts of a workspace, or its artifacts."""

    def __init__(self, workspace: Workspace, kind: FactKind = "fact") -> None:
        self.kind = kind
        self._path = workspace.folder / f"{kind}s.json"
        self._workspace = workspace

    def set(
        self, key: str, value: Any, *, source: str, step: int | None = None, limit: int | None = None
    ) -> FactChange:
        """Give a key a value. The same value again is no change; another one is reported, the old one kept."""
        key, source = checked_key(key), _checked_source(source)
        most = limit or MOST_BYTES[self.kind]
        size = size_of(value)
        if size > most:
            hint = "keep large values with: ctx fact artifact set" if self.kind == "fact" else "name a higher --limit"
            raise UsageError(f"{key}: {size:,} bytes are more than the {most:,} allowed", code="too_large", hint=hint)
        fact = Fact(key, value, source, step, _now())

        def act(entries: files.Entries) -> FactChange:
            rows = entries.setdefault(key, [])
            last = rows[-1] if rows and not rows[-1].deleted else None
            if last and _same(last, fact) and (last.source, last.step) == (source, step):
                return FactChange(last, "same", last, self.kind)
            rows.append(fact)
            if last is None:
                return FactChange(fact, "new", None, self.kind)
            return FactChange(fact, "same" if _same(last, fact) else "changed", last, self.kind)

        return self._change(act)

    def get(self, key: str) -> Fact:
        """What a key holds."""
        rows = files.read(self._path).get(key.strip(), [])
        if not rows or rows[-1].deleted:
            raise self._missing(key)
        return rows[-1]

    def list(self, prefix: str = "") -> FactList:
        """All facts by key, or those whose key begins so."""
        found = files.read(self._path)
        current = (rows[-1] for key, rows in sorted(found.items()) if key.startswith(prefix))
        return FactList(tuple(fact for fact in current if not fact.deleted), self.kind)

    def history(self, key: str) -> FactList:
        """All that a key has held, oldest first, deletions too."""
        rows = files.read(self._path).get(key.strip())
        if not rows:
            raise self._missing(key)
        return FactList(tuple(rows), self.kind, key.strip())

    def delete(self, key: str) -> FactChange:
        """Take a fact away; its history stays."""
        key = key.strip()

        def act(entries: files.Entries) -> FactChange:
            rows = entries.get(key, [])
            if not rows or rows[-1].deleted:
                raise self._missing(key)
            gone = Fact(key, None, "", None, _now(), deleted=True)
            rows.append(gone)
            return FactChange(gone, "deleted", rows[-2], self.kind)

        return self._change(act)

    def _change(self, act: Any) -> FactChange:
        timeout = self._workspace.settings.number("index.lock_seconds")
        changed: FactChange = files.change(self._path, act, timeout=timeout)
        return changed

    def _missing(self, key: str) -> NotFoundError:
        from difflib import get_close_matches

        keys = [fact.key for fact in self.list().facts]
        near = get_close_matches(key, keys, n=1)
        listing = "ctx fact list" if self.kind == "fact" else "ctx fact artifact list"
        hint = f"did you mean {near[0]}?" if near else f"see: {listing}"
        return NotFoundError(f"there is no {self.kind} {key!r}", code=f"{self.kind}_not_found", hint=hint)


def read_value(text: str) -> Any:
    """A value as typed: JSON where it is JSON (``254``, ``true``, ``["a"]``), else the text itself."""
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, float) and math.isinf(value) else value


def _no_constant(name: str) -> Any:
    raise ValueError(name)  # NaN and Infinity are no JSON


def checked_key(key: str) -> str:
    """A key that facts may have, or UsageError."""
    key = key.strip()
    if not key or len(key) > _LONGEST_KEY or not key.isprintable():
        raise UsageError(
            f"{key[:60]!r} cannot be a key", code="bad_key", hint=f"use 1 to {_LONGEST_KEY} printable characters"
        )
    return key


def _checked_source(source: str) -> str:
    source = " ".join(source.split())
    if not source:
        raise UsageError("the fact has no source", code="no_source", hint="say where it comes from with --source")
    return source


def _same(one: Fact, other: Fact) -> bool:
    """Whether two facts hold the same value of the same type (1 is not true)."""
    return json.dumps(one.value, sort_keys=True) == json.dumps(other.value, sort_keys=True)


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="milliseconds")
