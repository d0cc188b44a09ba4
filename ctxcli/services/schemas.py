"""The JSON Schemas of the documents, as they ship in the package."""

import json
from pathlib import Path
from typing import Any

from ctxcli.model.errors import NotFoundError

_FOLDER = Path(__file__).parent.parent / "schemas"


def names() -> list[str]:
    """The names of the documents, in order."""
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


def text(name: str) -> str:
    """A schema as it stands in its file. `name` may be written as ``answer`` or ``ctx/answer/1``."""
    bare = name.removeprefix("ctx/").removesuffix("/1")
    known = names()
    if bare not in known:
        from difflib import get_close_matches

        near = get_close_matches(bare, known, n=1)
        hint = f"did you mean {near[0]}?" if near else "see: ctx schema"
        raise NotFoundError(f"there is no schema {name!r}", code="schema_not_found", hint=hint)
    return (_FOLDER / f"{bare}.json").read_text("utf-8")


def schema(name: str) -> dict[str, Any]:
    """A schema as a value."""
    found: dict[str, Any] = json.loads(text(name))
    return found


def listing() -> dict[str, Any]:
    """``ctx/schemas/1``."""
    rows = [(name, schema(name)) for name in names()]
    return {
        "schema": "ctx/schemas/1",
        "schemas": [{"name": name, "id": found["$id"], "title": found["title"]} for name, found in rows],
    }
