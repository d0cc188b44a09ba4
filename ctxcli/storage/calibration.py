"""What was fitted to a knowledge base, beside its index: ``calibration.json``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxcli.storage.files import write_text

if TYPE_CHECKING:
    from ctxcli.model.calibration import Calibration, Fit

FILE = "calibration.json"
PLAIN = "bm25"
"""The way of ranking that a threshold is for where none is named."""
_MOST = 1000
"""No shift and no slope that was fitted is as large."""


def read_calibration(folder: Path, *, way: str = PLAIN) -> "Calibration | None":
    """The threshold fitted to a way of ranking, with the scale of its scores if there is one.

    None where there is none or the file cannot be read: then the default holds.
    """
    found = _kept(folder)
    if not found:
        return None
    from ctxcli.model.calibration import AS_IT_IS, Calibration, ScoreScale

    try:
        threshold = float(found["threshold"] if way == PLAIN else found["ways"][way])
        kept = found.get("scales", {}).get(way)
        scale = ScoreScale(float(kept["shift"]), float(kept["slope"])) if kept else AS_IT_IS
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None
    is_usable = 0 <= threshold <= 1 and abs(scale.shift) < _MOST and 0 < scale.slope < _MOST
    return Calibration(threshold, scale) if is_usable else None


def write_calibration(folder: Path, fit: "Fit", *, way: str = PLAIN) -> None:
    """Keep what was fitted to a way of ranking, in place of what was there; that of other ways stays."""
    from ctxcli.model.calibration import AS_IT_IS

    found = _kept(folder)
    threshold, scale = fit.calibration.threshold, fit.calibration.scale
    if way == PLAIN:
        found |= {"threshold": threshold, "questions": fit.questions, "made_questions": fit.made}
    else:
        found["ways"] = {**_mapping(found, "ways"), way: threshold}
    scales = {name: kept for name, kept in _mapping(found, "scales").items() if name != way}
    if scale != AS_IT_IS:
        scales[way] = {"shift": scale.shift, "slope": scale.slope}
    found.pop("scales", None)
    write_text(folder / FILE, json.dumps({**found, "scales": scales} if scales else found) + "\n")


def _mapping(found: dict[str, Any], name: str) -> dict[str, Any]:
    kept = found.get(name)
    return kept if isinstance(kept, dict) else {}


def _kept(folder: Path) -> dict[str, Any]:
    try:
        data = json.loads((folder / FILE).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def forget_calibration(folder: Path) -> bool:
    """Go back to the default; False where nothing was fitted."""
    try:
        (folder / FILE).unlink()
    except FileNotFoundError:
        return False
    return True
