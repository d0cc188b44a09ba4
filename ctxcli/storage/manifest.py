"""``kb.json``: what a knowledge base is made from, and which folder beside it holds the engine's index."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxcli.model.errors import DataError
from ctxcli.storage.files import write_text

FILE = "kb.json"
SCHEMA = "ctx/kb-manifest/1"


@dataclass(frozen=True, slots=True)
class Root:
    """A folder or file as cited, and the patterns (of ``.gitignore``) that choose files below it."""

    path: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


VECTORS, VECTORS_PART = "vectors.bin", "vectors.part"
"""The vectors of a knowledge base, and what a run has embedded that is not finished."""
NEIGHBOURS = "vectors.faiss"
"""Where there are very many vectors: lists of those that lie near each other."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """`engine` names the folder of the index in use; a rebuild fills another one and then changes the name.

    `embed` names the model that its chunks are embedded with, "" for none.
    """

    name: str
    engine: str
    roots: tuple[Root, ...]
    embed: str = ""


def read(folder: Path) -> Manifest | None:
    """The manifest of the knowledge base in `folder`, None where there is none; DataError where it is broken."""
    path = folder / FILE
    try:
        data = json.loads(path.read_bytes())
        roots = tuple(map(_root, data["roots"]))
        return Manifest(folder.name, _engine(data["engine"]), roots, str(data.get("embed", "")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path} cannot be used: {error}", code="kb_broken", hint="mend it with: ctx kb index PATH --rebuild"
        ) from error


def write(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest at once."""
    roots = [{"path": root.path, "include": root.include, "exclude": root.exclude} for root in manifest.roots]
    data = {"schema": SCHEMA, "engine": manifest.engine, "roots": roots}
    if manifest.embed:
        data["embed"] = manifest.embed
    write_text(folder / FILE, json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def engines(folder: Path) -> list[str]:
    """The names of the engine folders that lie there, oldest first."""
    found = [path.name for path in folder.glob("index-*") if path.name[6:].isdigit()]
    return sorted(found, key=lambda name: int(name[6:]))


def next_engine(folder: Path, current: str | None) -> str:
    """A name that no engine folder has."""
    names = [*engines(folder), *([current] if current else [])]
    return f"index-{max((int(name[6:]) for name in names), default=0) + 1}"


def _engine(name: Any) -> str:
    if not (isinstance(name, str) and name.startswith("index-") and name[6:].isdigit()):
        raise ValueError(f"engine {name!r}")
    return name


def _root(data: Any) -> Root:
    return Root(str(data["path"]), tuple(map(str, data.get("include", ()))), tuple(map(str, data.get("exclude", ()))))


def check_places(folder: Path) -> None:
    """DataError where a folder stands in the place of a file, before anything is embedded in vain."""
    for name in (VECTORS, VECTORS_PART, NEIGHBOURS):
        if (folder / name).is_dir():
            raise DataError(
                f"{folder / name} is a folder, and a file of vectors belongs there",
                code="unwritable",
                hint="move it away, then: ctx kb index",
            )
