"""Results of tools made short: the structure stays, and what was left out is said."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from ctxcli.model.errors import UsageError

_MARK = "…"
_LEVELS = (1_000, 300, 100, 50, 30, 20, 15, 10, 7, 5, 4, 3, 2, 1, 0)


def render_tool_result(result: Any, limit: int = 4_000, *, count: Callable[[str], int] = len) -> str:
    """The result of a tool as text of at most `limit` characters, or of what else `count` counts (at least 2).

    Valid JSON in (a text, or a value), valid JSON of the same type out: keys and first rows stay, and lists, objects
    and texts that are cut say how much of how much is missing. Other text keeps its first and last lines.

    >>> render_tool_result('{"rows": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}', limit=46)
    '{"rows": [1, 2, 3, 4, "… 8 more of 12 items"]}'
    >>> render_tool_result({"ok": True})
    '{"ok": true}'
    """
    if limit < 2:
        raise UsageError(f"a limit of {limit} is too small", code="bad_limit", hint="give at least 2")
    if isinstance(result, str):
        if count(result) <= limit:
            return result
        try:
            value = json.loads(result, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return _short_text(result, limit, count)
    else:
        value = result
    return _short_json(value, limit, count)


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _short_json(value: Any, limit: int, count: Callable[[str], int]) -> str:
    for text in _attempts(value):
        if count(text) <= limit:
            return text
    bare = "{}" if isinstance(value, dict) else "[]" if isinstance(value, list | tuple) else "0"
    bare = '""' if isinstance(value, str) else bare
    return bare if count(bare) <= limit else "0"


def _attempts(value: Any) -> Iterator[str]:
    """JSON of a value, ever shorter."""
    whole = _dump(value)
    yield whole
    for level in _LEVELS:
        yield _dump(_cut(value, items=level, characters=max(16, level * 20), depth=1 + min(level, 30)))
    yield _dump(_named(value, len(whole)))
    yield _dump(_named(value, 0))


def _named(value: Any, size: int) -> Any:
    """Only what was left out, in the type of the value."""
    said = f"{_MARK} {size:,} characters" if size else _MARK
    if isinstance(value, dict):
        return {_MARK: said}
    return [said] if isinstance(value, list | tuple) else said if isinstance(value, str) else value


def _cut(value: Any, *, items: int, characters: int, depth: int) -> Any:
    if isinstance(value, str):
        return _cut_text(value, characters)
    if isinstance(value, dict):
        if depth <= 0 and value:
            return {_MARK: f"{len(value)} keys"}
        # keys are what tells a reader most: three times as many as rows
        kept = list(value.items())[: items * 3]
        found = {str(key): _cut(one, items=items, characters=characters, depth=depth - 1) for key, one in kept}
        if len(kept) < len(value):
            found[_MARK] = f"{len(value) - len(kept)} more of {len(value)} keys"
        return found
    if isinstance(value, list | tuple):
        if depth <= 0 and value:
            return [f"{_MARK} {len(value)} items"]
        rows = [_cut(one, items=items, characters=characters, depth=depth - 1) for one in value[:items]]
        if len(rows) < len(value):
            rows.append(f"{_MARK} {len(value) - len(rows)} more of {len(value)} items")
        return rows
    return value


def _cut_text(text: str, characters: int) -> str:
    note = f"{_MARK} [{len(text) - characters} of {len(text)} characters left out]"
    return text if len(text) <= characters + len(note) else _whole_end(text, characters) + note


def _whole_end(text: str, at: int) -> str:
    """The beginning of a text, not ending within what is drawn as one character."""
    while at and at < len(text) and (text[at] in "\u200d\ufe0f" or text[at - 1] == "\u200d"):
        at -= 1
    return text[:at]


def _dump(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if text.isascii() or _is_text(text) else json.dumps(value, default=str)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which stays escaped
        return False
    return True


def _short_text(text: str, limit: int, count: Callable[[str], int]) -> str:
    """The first two thirds and the last third of what fits, whole lines where there are some, with a note between."""
    low, high, best = 0, len(text), ""
    while low <= high:
        middle = (low + high) // 2
        found = _ends(text, middle)
        if count(found) <= limit:
            best, low = found, middle + 1
        else:
            high = middle - 1
    if best:
        return best
    return _MARK if count(_MARK) <= limit else ""


def _ends(text: str, kept: int) -> str:
    head = _whole_end(text, kept - kept // 3)
    tail = text[len(text) - kept // 3 :] if kept // 3 else ""
    if "\n" in head[len(head) // 2 :]:
        head = head[: head.rindex("\n") + 1]
    if "\n" in tail[: len(tail) // 2 + 1]:
        tail = tail[tail.index("\n") + 1 :]
    gone = len(text) - len(head) - len(tail)
    return f"{head}{_MARK} [{gone:,} of {len(text):,} characters left out] {_MARK}\n{tail}"
