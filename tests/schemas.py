"""Documents against the schemas that ship, closed: a field that a schema does not name is a mistake too."""

from copy import deepcopy
from typing import Any

from jsonschema import Draft202012Validator

from ctxcli.services import schemas


def closed(name: str) -> dict[str, Any]:
    """The schema without room for fields it does not name."""
    found = deepcopy(schemas.schema(name))
    _close(found)
    return found


def _close(node: Any) -> None:
    if isinstance(node, list):
        for one in node:
            _close(one)
    elif isinstance(node, dict):
        if node.get("properties") and isinstance(node["properties"], dict):
            node.setdefault("additionalProperties", False)
        for one in node.values():
            _close(one)


def valid(document: dict[str, Any]) -> dict[str, Any]:
    """The document, checked against the schema that it names."""
    name = document["schema"].split("/")[1]
    errors = [f"{'/'.join(map(str, one.path))}: {one.message}" for one in
              Draft202012Validator(closed(name)).iter_errors(document)]  # fmt: skip
    assert not errors, (name, errors)
    return document
