"""Folders walked: which files are there, which are passed over, and what could not be looked into.

Whatever is not found has been proved absent (its folder was listed) or is passed over by a rule; what lies below
a folder in `Walked.unknown` is neither.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ctxcli.storage import files, ignore

CONFLICT_COPY = re.compile(r".*\.sync-conflict-\d|.*\((?:.* )?conflicted copy\b", re.IGNORECASE)
"""Names that Syncthing and Dropbox give to the losing side of a conflict."""

_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
_IGNORE_FILES = (".gitignore", ".ctxignore")
_MAX_IGNORE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Found:
    """A file as it lies there. `path` and `root` as cited, `file` as the system opens it."""

    path: str
    root: str
    file: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class WalkFailure:
    """A file or folder that is there and could not be looked at."""

    path: str
    code: str
    message: str


@dataclass(slots=True)
class Walked:
    """What a walk saw. `skipped` counts files that were seen and not taken; files in skipped folders are unseen."""

    found: list[Found] = field(default_factory=list)
    failures: list[WalkFailure] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Selection:
    """What to take below a root: names that `candidate` accepts, in `include` (if any), not in `exclude`."""

    candidate: Callable[[str], bool]
    include: ignore.Rules | None = None
    exclude: ignore.Rules | None = None

    def takes(self, relative: str, name: str) -> bool:
        """Whether a file is wanted; `relative` is its path below the root."""
        if CONFLICT_COPY.match(name) or name.startswith("~$"):
            return False
        if self.exclude and self.exclude.decide(relative, folder=False):
            return False
        if self.include and not self.include.decide(relative, folder=False):
            return False
        return self.candidate(name)


@dataclass(frozen=True, slots=True)
class _Layer:
    """The rules of an ignore file; `depth` is the length of its folder's path with the slash."""

    rules: ignore.Rules
    depth: int


_Layers = tuple[tuple[_Layer, ...], tuple[_Layer, ...]]
"""Of ``.gitignore`` and of ``.ctxignore`` files, outermost first. The latter decide where both speak."""


def walk(top: Path, *, root: str, selection: Selection, workspace: Path) -> Walked:
    """Find the files below the folder `top`, which is cited as `root`, in the order of their paths.

    Hidden files and folders, caches of tools and what ``.gitignore`` and ``.ctxignore`` name are passed over;
    ignore files above `top` count too (up to the repository, and up to `workspace`). Links to folders are not
    followed, links to files only where they end below `top`.
    """
    walker = _Walker(str(top), root, selection)
    walker.descend("", _outer_layers(top, workspace))
    walker.walked.found.sort(key=lambda one: one.path)
    return walker.walked


def walk_file(file: Path, *, root: str) -> Walked:
    """Take one file that the user named, whatever its name."""
    walked = Walked()
    try:
        status = file.stat()
    except OSError as error:
        walked.failures.append(WalkFailure(root, "unreadable_file", f"it cannot be looked at: {files.reason(error)}"))
        walked.unknown.append(root)
        return walked
    if not stat.S_ISREG(status.st_mode):
        walked.failures.append(WalkFailure(root, "no_file", "it is no regular file"))
    else:
        walked.found.append(Found(root, root, str(file), status.st_size, status.st_mtime_ns))
    return walked


def cited(root: str, relative: str) -> str:
    """The path of a file below a root, as cited."""
    if root == ".":
        return relative or "."
    return f"{root.rstrip('/')}/{relative}" if relative else root


def is_below(path: str, folder: str) -> bool:
    """Whether the cited `path` is the cited `folder` or lies below it."""
    if folder == ".":
        return not path.startswith("/") and path[1:2] != ":"
    return path == folder or path.startswith(folder.rstrip("/") + "/")


class _Walker:
    def __init__(self, top: str, root: str, selection: Selection) -> None:
        self._top = top
        self._real_top = os.path.realpath(top) + os.sep
        self._root = root
        self._selection = selection
        self.walked = Walked()

    def descend(self, start: str, layers: _Layers) -> None:
        """Walk the folder `start` (relative, with a slash at its end; "" is the top) and all below."""
        waiting = [(start, layers)]
        while waiting:
            folder, outer = waiting.pop()
            entries = self._list(folder)
            names = {entry.name for entry in entries}
            if folder and "pyvenv.cfg" in names:
                continue
            inner = _with_ignore_files(self._top, folder, names, outer)
            for entry in entries:
                relative = folder + entry.name
                if entry.name.startswith("."):
                    continue
                if _is_folder(entry):
                    if self._enters(relative, entry.name, inner):
                        waiting.append((relative + "/", inner))
                elif not self._take(entry, relative, inner):
                    break

    def _list(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(os.path.join(self._top, folder)) as entries:  # noqa: PTH118 - Path costs most of a walk
                return list(entries)
        except OSError as error:
            if folder == "" or not isinstance(error, FileNotFoundError):  # a subfolder may well have gone just now
                self._fail_folder(folder, error)
            return []

    def _fail_folder(self, folder: str, error: OSError) -> None:
        path = cited(self._root, folder.rstrip("/"))
        message = f"the folder cannot be read ({files.reason(error)}); what was indexed below it is kept"
        self.walked.failures.append(WalkFailure(files.printable(path), "unreadable_folder", message))
        self.walked.unknown.append(path)

    def _enters(self, relative: str, name: str, layers: _Layers) -> bool:
        if name in _SKIPPED_FOLDERS or _is_ignored(relative, layers, folder=True):
            return False
        exclude = self._selection.exclude
        return not (exclude and exclude.decide(relative, folder=True))

    def _take(self, entry: os.DirEntry[str], relative: str, layers: _Layers) -> bool:
        """Note a file; False where nothing in its folder can be looked at."""
        if _is_ignored(relative, layers, folder=False) or not self._selection.takes(relative, entry.name):
            self.walked.skipped += 1
            return True
        path = cited(self._root, relative)
        try:
            status = entry.stat()
        except FileNotFoundError:
            return True
        except PermissionError as error:
            self._fail_folder(relative.removesuffix(entry.name), error)
            return False
        except OSError as error:
            message = f"it cannot be looked at: {files.reason(error)}"
            self.walked.failures.append(WalkFailure(files.printable(path), "unreadable_file", message))
            self.walked.unknown.append(path)
            return True
        if not stat.S_ISREG(status.st_mode) or (entry.is_symlink() and not self._ends_inside(entry)):
            self.walked.skipped += 1
        elif not _is_utf8(relative):
            message = "its name is not UTF-8, so that it cannot be cited; rename it"
            self.walked.failures.append(WalkFailure(files.printable(path), "name_not_utf8", message))
        else:
            self.walked.found.append(Found(path, self._root, entry.path, status.st_size, status.st_mtime_ns))
        return True

    def _ends_inside(self, entry: os.DirEntry[str]) -> bool:
        return os.path.realpath(entry.path).startswith(self._real_top)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Links to folders are none: they are never entered."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_utf8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_ignored(relative: str, layers: _Layers, *, folder: bool) -> bool:
    for kind in reversed(layers):
        for layer in reversed(kind):
            decision = layer.rules.decide(relative[layer.depth :], folder=folder)
            if decision is not None:
                return decision
    return False


def _with_ignore_files(top: str, folder: str, names: set[str], layers: _Layers) -> _Layers:
    if names.isdisjoint(_IGNORE_FILES):
        return layers
    git, ctx = (
        (*outer, _Layer(rules, len(folder))) if name in names and (rules := _read(Path(top, folder, name))) else outer
        for name, outer in zip(_IGNORE_FILES, layers, strict=True)
    )
    return git, ctx


def _read(path: Path) -> ignore.Rules | None:
    try:
        with path.open("rb") as handle:
            rules = ignore.parse(handle.read(_MAX_IGNORE_BYTES).decode("utf-8", "surrogateescape"))
    except OSError:
        return None
    return rules if rules.rules else None


def _outer_layers(top: Path, workspace: Path) -> _Layers:
    """The ignore files above `top`. Their patterns see paths that begin at their own folder."""
    top = top.resolve()
    repository = next((folder for folder in (top, *top.parents) if (folder / ".git").exists()), top)
    git: list[_Layer] = []
    if exclude := _read(repository / ".git" / "info" / "exclude"):
        git.append(_shifted(exclude, top, repository))
    git.extend(_between(top, repository, ".gitignore"))
    return tuple(git), tuple(_between(top, workspace, ".ctxignore"))


def _between(top: Path, outermost: Path, name: str) -> Iterator[_Layer]:
    if not top.is_relative_to(outermost):
        return
    above = [folder for folder in top.parents if folder.is_relative_to(outermost)]
    for folder in reversed(above):
        if rules := _read(folder / name):
            yield _shifted(rules, top, folder)


def _shifted(rules: ignore.Rules, top: Path, folder: Path) -> _Layer:
    """Rules of a `folder` above `top`, for paths that are given from `top` on."""
    prefix = top.relative_to(folder).as_posix()
    return _Layer(rules if prefix == "." else ignore.PrefixedRules(rules.rules, prefix + "/"), 0)
