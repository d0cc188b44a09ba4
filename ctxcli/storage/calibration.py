"""The threshold that was fitted to a knowledge base, beside its index: ``calibration.json``."""

import json
from pathlib import Path
from typing import Any

from ctxcli.storage.files import write_text

FILE = "calibration.json"


PLAIN = "bm25"
"""The way of ranking that a threshold is for where none is named."""


def read_threshold(folder: Path, *, way: str = PLAIN) -> float | None:
    """The threshold (0…1) fitted to a way of ranking.

    None where there is none or the file cannot be read: then the default holds.
    """
    found = _kept(folder)
    try:
        value = found["threshold"] if way == PLAIN else found["ways"][way]
    except (KeyError, TypeError):
        return None
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None


def write_threshold(folder: Path, threshold: float, *, questions: int, made: bool, way: str = PLAIN) -> None:
    """Keep a threshold and what it was fitted to; those of other ways of ranking stay."""
    found = _kept(folder)
    if way == PLAIN:
        found |= {"threshold": threshold, "questions": questions, "made_questions": made}
    else:
        found["ways"] = {**found.get("ways", {}), way: threshold}
    write_text(folder / FILE, json.dumps(found) + "\n")


def _kept(folder: Path) -> dict[str, Any]:
    try:
        data = json.loads((folder / FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def forget_threshold(folder: Path) -> bool:
    """Go back to the default; False where nothing was fitted."""
    try:
        (folder / FILE).unlink()
    except FileNotFoundError:
        return False
    return True
