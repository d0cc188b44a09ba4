"""The threshold that was fitted to a knowledge base, beside its index: ``calibration.json``."""

import json
from pathlib import Path

from ctxcli.storage.files import write_text

FILE = "calibration.json"


def read_threshold(folder: Path) -> float | None:
    """The fitted threshold (0…1); None where there is none or the file cannot be read: then the default holds."""
    try:
        value = json.loads((folder / FILE).read_text("utf-8"))["threshold"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None


def write_threshold(folder: Path, threshold: float, *, questions: int, made: bool) -> None:
    """Keep a threshold and what it was fitted to."""
    found = {"threshold": threshold, "questions": questions, "made_questions": made}
    write_text(folder / FILE, json.dumps(found) + "\n")


def forget_threshold(folder: Path) -> bool:
    """Go back to the default; False where nothing was fitted."""
    try:
        (folder / FILE).unlink()
    except FileNotFoundError:
        return False
    return True
