"""What is there now: the roots of a knowledge base walked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxcli.storage import ignore
from ctxcli.storage.manifest import Root
from ctxcli.storage.walk import Selection, Walked, WalkFailure, is_below, walk, walk_file


@dataclass(frozen=True, slots=True)
class Places:
    """Where to look. `scope` (as cited) narrows the roots to some folders or files; empty means all.

    `candidate` says by a file's name whether it may be a document.
    """

    workspace: Path
    roots: tuple[Root, ...]
    candidate: Callable[[str], bool]
    scope: tuple[str, ...] = ()

    @property
    def reach(self) -> tuple[str, ...]:
        """Folders and files whose content is looked at, as cited."""
        return self.scope or tuple(root.path for root in self.roots)

    def covers(self, path: str) -> bool:
        """Whether a cited path is looked at."""
        return any(is_below(path, folder) for folder in self.reach)


def look(places: Places) -> Walked:
    """Walk what the places name. A root that is not there is a failure, and nothing below it is known.

    What lies below two roots is found twice; a failure is told once.
    """
    together = Walked()
    for root in places.roots:
        if places.covers(root.path) or any(is_below(path, root.path) for path in places.reach):
            one = _look_at(root, places)
            together.found.extend(found for found in one.found if places.covers(found.path))
            together.failures.extend(one.failures)
            together.unknown.extend(one.unknown)
            together.skipped += one.skipped
    together.failures = list(dict.fromkeys(together.failures))
    return together


def _look_at(root: Root, places: Places) -> Walked:
    top = places.workspace / root.path
    try:
        top.lstat()
    except (FileNotFoundError, NotADirectoryError):
        failure = WalkFailure(root.path, "missing_root", "it is not there; what was indexed from it is kept")
        return Walked(failures=[failure], unknown=[root.path])
    except OSError:
        return walk_file(top, root=root.path)
    if not top.is_dir():
        return walk_file(top, root=root.path)
    selection = Selection(places.candidate, _rules(root.include), _rules(root.exclude))
    return walk(top, root=root.path, selection=selection, workspace=places.workspace)


def _rules(patterns: Sequence[str]) -> ignore.Rules | None:
    return ignore.parse("\n".join(patterns)) if patterns else None
