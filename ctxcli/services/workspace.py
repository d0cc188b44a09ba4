"""The composition root: which workspace, its settings, and the classes behind its parts."""

import os
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ctxcli import settings as settings_
from ctxcli.model.errors import DataError, NotFoundError, UsageError
from ctxcli.settings import Scalar, Settings
from ctxcli.storage.files import printable, reason, write_text

if TYPE_CHECKING:
    from ctxcli.index.embedded import EmbeddedReader
    from ctxcli.model.index import IndexSettings, IndexWriter
    from ctxcli.storage.manifest import Manifest

MARK = ".ctx"
DEFAULT_KB = "default"
OWN_KBS = ("_notes",)
"""Knowledge bases that ctx keeps for itself; no user's may bear such a name."""
_KB_NAME = re.compile(r"[^\W_][\w.\-]{0,63}", re.UNICODE)
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_GITIGNORE = """# Caches and states of ctx that can be built again; config.toml and facts may be committed.
/kb/
/notes-index.jsonl*
/note-imports.json*
/last-answer.json
/trash/
*.lock
.ctx-tmp-*
"""


class Workspace:
    """A folder with ``.ctx``; documents are cited relative to it."""

    def __init__(self, root: Path, flags: Mapping[str, Scalar]) -> None:
        self.root = root
        self.flags = flags

    @property
    def folder(self) -> Path:
        """The ``.ctx`` folder."""
        return self.root / MARK

    @cached_property
    def settings(self) -> Settings:
        """The settings that hold here."""
        return settings_.load(self.root, flags=self.flags)

    def cite(self, path: Path) -> str:
        """A path as cited: POSIX, relative to the root, absolute outside of it."""
        plain = Path(os.path.abspath(path))  # noqa: PTH100 - Path.resolve would follow links
        for candidate in (plain, plain.resolve()):
            if candidate.is_relative_to(self.root):
                return candidate.relative_to(self.root).as_posix()
        return plain.as_posix()

    def kb_folder(self, name: str) -> Path:
        """Where a knowledge base has its files; UsageError for a name that is none."""
        return self.folder / "kb" / (name if name in OWN_KBS else checked_kb_name(name))

    def kb_names(self) -> list[str]:
        """The knowledge bases there are, in order."""
        try:
            with os.scandir(self.folder / "kb") as entries:
                return sorted(one.name for one in entries if is_kb_name(one.name) and _has_manifest(one.path))
        except FileNotFoundError:
            return []

    def manifest(self, name: str) -> "Manifest":
        """What a knowledge base is made from; NotFoundError where there is none of that name."""
        from ctxcli.storage import manifest  # on use: notes do without

        found = manifest.read(self.kb_folder(name))
        if found is None:
            raise self.no_kb(name)
        return found

    def no_kb(self, name: str) -> NotFoundError:
        """The error of a name that no knowledge base bears."""
        names = self.kb_names()
        if not names:
            return NotFoundError(
                "there is no knowledge base yet", code="no_kb", hint="make one with: ctx kb index FOLDER"
            )
        return NotFoundError(
            f"there is no knowledge base {name!r}", code="kb_not_found", hint=f"there is: {', '.join(names)}"
        )

    def reader(self, name: str) -> "EmbeddedReader":
        """A snapshot of a knowledge base."""
        from ctxcli.index.embedded import EmbeddedReader
        from ctxcli.storage import manifest

        folder = self.kb_folder(name)
        current = self.manifest(name)
        try:
            return EmbeddedReader(folder / current.engine)
        except DataError:
            again = manifest.read(folder)
            if again is None or again.engine == current.engine:
                raise
            return EmbeddedReader(folder / again.engine)  # a rebuild has ended in between

    def writer(self, name: str, engine: str) -> "IndexWriter":
        """The writer of a knowledge base's engine folder; the caller holds the lock."""
        from ctxcli.index.embedded import open_writer

        return open_writer(self.kb_folder(name) / engine, self.index_settings())

    def index_settings(self) -> "IndexSettings":
        """What an index built now is built with."""
        from ctxcli.index.embedded import SCHEMA
        from ctxcli.model.index import IndexSettings
        from ctxcli.parsing import chunker
        from ctxcli.text.analyzer import Analyzer

        return IndexSettings(SCHEMA, Analyzer(self.settings.text("index.analyzer")).id, f"chunks/{chunker.VERSION}")


def is_kb_name(name: str) -> bool:
    """Whether a knowledge base may bear this name: letters, digits, ``-``, ``_`` and ``.``, at most 64."""
    return bool(_KB_NAME.fullmatch(name)) and not _RESERVED.fullmatch(name) and not name.endswith((".", ".lock"))


def checked_kb_name(name: str) -> str:
    """The name, or UsageError."""
    if not is_kb_name(name):
        raise UsageError(
            f"{name!r} cannot be the name of a knowledge base",
            code="bad_kb_name",
            hint="use letters, digits, - and _, and begin with a letter or digit",
        )
    return name


def _has_manifest(folder: str) -> bool:
    from ctxcli.storage import manifest

    return (Path(folder) / manifest.FILE).is_file()


def find(directory: Path | None = None, *, flags: Mapping[str, Scalar] | None = None) -> Workspace:
    """The workspace: `directory`, else ``CTX_WORKSPACE``, else the nearest parent with ``.ctx``."""
    named = directory or _from_environment()
    if named is None:
        here = Path.cwd()
        root = next((folder for folder in (here, *here.parents) if (folder / MARK).is_dir()), None)
    else:
        root = named.resolve() if (named / MARK).is_dir() else None
    if root is None:
        where = f"{named} is no workspace" if named else "there is no workspace here or above"
        raise NotFoundError(where, code="no_workspace", hint="make one with: ctx init, or: ctx kb index FOLDER")
    return Workspace(root, flags or {})


def find_or_make(directory: Path | None = None, *, flags: Mapping[str, Scalar] | None = None) -> tuple[Workspace, bool]:
    """The workspace, made in `directory` or the current folder where there is none; and whether it was made."""
    try:
        return find(directory, flags=flags), False
    except NotFoundError:
        root = (directory or _from_environment() or Path.cwd()).resolve()
        if not root.is_dir():
            raise NotFoundError(
                f"{root} is no folder", code="no_workspace", hint=f"make it with: ctx init {root}"
            ) from None
        make(root)
        return Workspace(root, flags or {}), True


def find_or_imagine(directory: Path | None = None) -> Workspace:
    """The workspace, or the one that would be made; nothing is written."""
    try:
        return find(directory)
    except NotFoundError:
        return Workspace((directory or _from_environment() or Path.cwd()).resolve(), {})


def checked_path(path: Path) -> Path:
    """The path of a file or folder that is there, or NotFoundError; a device or a pipe is neither."""
    if not path.exists():
        raise NotFoundError(f"{printable(str(path))} does not exist", code="path_not_found", hint="check the path")
    if not (path.is_dir() or path.is_file()):
        raise NotFoundError(
            f"{printable(str(path))} is no file and no folder",
            code="path_not_found",
            hint="name what can be read again",
        )
    return path


def make(root: Path) -> bool:
    """Make `root` a workspace; False where it was one. Its files are left alone."""
    folder = root / MARK
    if folder.is_dir():
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / ".gitignore", _GITIGNORE)
    except OSError as error:
        raise DataError(
            f"{root} cannot be made a workspace: {reason(error)}",
            code="unwritable",
            hint="name another one with -w DIR",
        ) from error
    return True


def _from_environment() -> Path | None:
    named = os.environ.get("CTX_WORKSPACE", "")
    return Path(named) if named else None
