"""Arguments of tools checked, and mended where it is clear what is meant: models write lists and numbers as text."""

import json
from collections.abc import Mapping
from difflib import get_close_matches
from math import isfinite
from typing import Any

from ctxcli.model.errors import UsageError

Schema = Mapping[str, Any]
_KINDS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list of texts",
}
_LONGEST = 10_000
"""Characters of a text, where its schema names no other limit (`maxLength`)."""
_NAME = 60
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def checked(tool: str, properties: Mapping[str, Schema], required: tuple[str, ...], given: object) -> dict[str, Any]:
    """The arguments as the tool takes them; null counts as not given. UsageError names what is wrong and what is near.

    A list may come as JSON text or as text parted by commas, a number or a truth value as text.
    """
    if isinstance(given, str):
        given = _parsed(tool, given)
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise UsageError(f"{tool}: the arguments must be an object", code="bad_arguments", hint="give them by name")
    for name in given:
        if name not in properties:
            name = str(name)[:_NAME]  # noqa: PLW2901 - as it is shown
            near = get_close_matches(name, properties, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"it takes: {', '.join(properties) or 'nothing'}"
            raise UsageError(f"{tool}: there is no parameter {name!r}", code="unknown_parameter", hint=hint)
    found = {name: _value(tool, name, properties[name], value) for name, value in given.items() if value is not None}
    for name in required:
        if name not in found:
            what = _KINDS.get(str(properties[name].get("type")), "a value")
            raise UsageError(f"{tool}: {name} is missing", code="missing_parameter", hint=f"give {name}: {what}")
    return found


def _parsed(tool: str, text: str) -> object:
    try:
        return json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{tool}: the arguments are no JSON: {error}", code="bad_json", hint="give an object"
        ) from None


def _value(tool: str, name: str, schema: Schema, value: Any) -> Any:
    kind = schema.get("type")
    found: Any = _CONVERT[kind](value) if isinstance(kind, str) else _plain(value)
    if found is None:
        shown = json.dumps(value, ensure_ascii=False, default=str)
        what = _KINDS[kind] if isinstance(kind, str) else "a text, a number or true or false"
        raise _wrong(tool, name, f"must be {what}, not {shown[:_NAME]}", f"give {what}")
    for text in found if isinstance(found, list) else [found]:
        _check_text(tool, name, text, schema.get("maxLength", _LONGEST))
    if "enum" in schema and found not in schema["enum"]:
        near = get_close_matches(str(found), schema["enum"], n=1)
        hint = f"did you mean {near[0]}?" if near else f"use one of: {', '.join(schema['enum'])}"
        raise _wrong(tool, name, f"cannot be {found!r}", hint)
    low, high = schema.get("minimum"), schema.get("maximum")
    if (low is not None and found < low) or (high is not None and found > high):
        bounds = f"from {low} to {high}" if high is not None else f"from {low} on"
        raise _wrong(tool, name, f"must be {bounds}, not {found}", f"give a number {bounds}")
    if kind == "string" and not found.strip() and schema.get("minLength"):
        raise _wrong(tool, name, "is empty", "give a text")
    return found


def _check_text(tool: str, name: str, text: object, longest: int) -> None:
    if isinstance(text, str) and len(text) > longest:
        raise _wrong(tool, name, f"has {len(text):,} characters", f"give at most {longest:,}")
    if isinstance(text, str) and "\0" in text:
        raise _wrong(tool, name, "holds a null character", "leave it out")


def _wrong(tool: str, name: str, what: str, hint: str) -> UsageError:
    return UsageError(f"{tool}: {name} {what}", code="bad_parameter", hint=hint)


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return str(value) if _number(value) is not None else None


def _plain(value: Any) -> str | float | bool | None:
    return value if isinstance(value, str | bool) else _number(value)


def _integer(value: Any) -> int | None:
    found = _number(value)
    if found is None or abs(found) > 1 << 53 or found != int(found):
        return None
    return int(found)


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return value


def _truth(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return _WORDS.get(value.strip().lower()) if isinstance(value, str) else None


def _texts(value: Any) -> list[str] | None:
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return None
        else:
            return [part.strip() for part in value.replace("，", ",").split(",") if part.strip()]
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        return None
    return list(value)


_CONVERT = {"string": _text, "integer": _integer, "number": _number, "boolean": _truth, "array": _texts}
