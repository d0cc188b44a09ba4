"""JSON as the files of ctx hold it: UTF-8, readable, whatever stands in its texts."""

import json
from typing import Any


def json_bytes(value: Any, *, indent: int | None = None, compact: bool = False) -> bytes:
    """A value as JSON in UTF-8. Where a text holds half of a character (an unpaired surrogate) all is in ASCII."""
    separators = (",", ":") if compact else None
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent, separators=separators).encode("ascii")
