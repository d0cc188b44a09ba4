"""The sources of the last answer that was shown on a terminal, for `ctx open N`: ``.ctx/last-answer.json``."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from ctxcli.storage.files import atomic_write

FILE = "last-answer.json"


def remember(folder: Path, sources: list[dict[str, Any]]) -> None:
    """Keep the sources; an answer is no worse where that cannot be done."""
    with suppress(OSError):
        atomic_write(folder / FILE, json.dumps(sources, ensure_ascii=False).encode("utf-8"), durable=False)


def recall(folder: Path) -> list[dict[str, Any]]:
    """The sources, in order; [] where there are none or they cannot be read."""
    try:
        found = json.loads((folder / FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
