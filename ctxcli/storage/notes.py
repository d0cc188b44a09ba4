"""The folder of the notes and the trash: the only code that touches them.

No link is followed, and nothing outside of the folder is read or written. A new file never takes the place of
another one; a changed file takes the place of the old one at once, and only if that is still as it was read.
"""

import errno
import os
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ctxcli.model.errors import BusyError, DataError, NotFoundError
from ctxcli.storage.files import TEMPORARY, is_abandoned, printable, reason
from ctxcli.storage.note_names import ENDINGS

Stamp = tuple[int, int]
"""What changes when a file does: the time of its last change of any kind (ns), and its size."""

_O_BINARY = getattr(os, "O_BINARY", 0)
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | _O_BINARY
_KIND = 0o170000

_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _O_BINARY


class Scan(NamedTuple):
    """The files that are there. What lies below a folder in `unknown` could not be looked at.

    `odd` names what is passed over though it looks like a note (links, devices), with the reason.
    """

    files: dict[str, Stamp]
    unknown: list[tuple[str, str]]
    odd: list[tuple[str, str]]
    leftovers: list[str]

    def may_hold(self, path: str) -> bool:
        """Whether a path lies where could not be looked."""
        return any(path.startswith(folder) for folder, _ in self.unknown)


_STAMP = attrgetter("st_mtime_ns" if os.name == "nt" else "st_ctime_ns", "st_size")


def stamp_of(status: os.stat_result) -> Stamp:
    """The stamp of a file. Where there is one, the time of its last change of any kind: nobody can set that back."""
    stamp: Stamp = _STAMP(status)
    return stamp


def scan(folder: Path) -> Scan:
    """Find the notes below `folder`; hidden files and folders are passed over."""
    found = Scan({}, [], [], [])
    files = found.files
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            entries = os.scandir(f"{folder}/{prefix}")
        except FileNotFoundError:
            continue
        except OSError as error:
            found.unknown.append((prefix, reason(error)))
            continue
        with entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    if name.startswith(TEMPORARY):
                        found.leftovers.append(prefix + name)
                elif name.endswith(".md") or name.lower().endswith(ENDINGS):
                    status = entry.stat(follow_symlinks=False)
                    kind = status.st_mode & _KIND
                    if kind == stat.S_IFREG:
                        files[prefix + name] = _STAMP(status)
                    elif kind == stat.S_IFDIR:
                        pending.append(f"{prefix}{name}/")
                    else:
                        found.odd.append((prefix + name, "it is a link" if entry.is_symlink() else "it is no file"))
                elif entry.is_dir(follow_symlinks=False):
                    pending.append(f"{prefix}{name}/")
    return found


def remove_leftovers(folder: Path, paths: Iterable[str]) -> None:
    """Delete what writers that were killed left half-written; the caller holds the lock."""
    for path in paths:
        with suppress(OSError):
            if is_abandoned(folder / path):
                os.unlink(f"{folder}/{path}")  # noqa: PTH108


def read(folder: Path, path: str) -> tuple[bytes, os.stat_result]:
    """The bytes of a note and how its file stood; OSError where it cannot be read."""
    if ".." in path.split("/"):
        raise OSError(0, "it lies outside of the notes")
    descriptor = os.open(f"{folder}/{path}", _READ)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is no file")
        return _read_all(descriptor, status.st_size), status
    finally:
        os.close(descriptor)


def read_known(folder: str, path: str, size: int) -> bytes:
    """The bytes of a note that a scan has just found, with its size then: the cheap way, for many."""
    descriptor = os.open(f"{folder}/{path}", _READ)
    try:
        data = os.read(descriptor, size + 1)
        return data if len(data) == size else data + _read_all(descriptor, 1 << 20)
    finally:
        os.close(descriptor)


def _read_all(descriptor: int, size: int) -> bytes:
    """What is left of a file of about `size` bytes."""
    data = b""
    while more := os.read(descriptor, max(size + 1 - len(data), 1 << 16)):
        data += more
    return data


def create(
    folder: Path, names: Iterable[str], data: bytes, *, below: str = "", mode: os.stat_result | None = None
) -> tuple[str, os.stat_result]:
    """Write a new file under the first of `names` that is free; it is there whole or not at all.

    All names lie in the folder `below`. `mode` gives the file the rights of another one.
    """
    parent = folder / below
    try:
        parent.mkdir(parents=True, exist_ok=True)
        temporary = _write_temporary(parent, data)
    except OSError as error:
        raise unwritable(parent, error) from error
    try:
        if mode:
            _keep_owner(mode, temporary)
        for name in names:
            if _publish(temporary, f"{folder}/{name}"):
                sync_folder(parent)
                return name, os.lstat(f"{folder}/{name}")
    except OSError as error:
        raise unwritable(parent, error) from error
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # noqa: PTH108
    raise BusyError("no free name was found for the note", code="no_free_name", hint="try again")


def unwritable(place: Path, error: OSError) -> DataError:
    """The error of a place that cannot be written."""
    return DataError(
        f"{printable(str(place))} cannot be written: {reason(error)}",
        code="unwritable",
        hint="nothing was changed; check the permissions and the space on the disk",
    )


def _write_temporary(folder: Path, data: bytes) -> str:
    temporary = f"{folder}/{TEMPORARY}{os.getpid()}-{os.urandom(4).hex()}"
    descriptor = os.open(temporary, _WRITE, 0o666)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    except BaseException:
        os.unlink(temporary)  # noqa: PTH108
        raise
    finally:
        os.close(descriptor)
    return temporary


def _publish(temporary: str, target: str) -> bool:
    """Give a file its name if that is free; False where it is not."""
    try:
        if os.name == "nt":
            os.rename(temporary, target)  # noqa: PTH104 - fails on Windows where the target is there
            return True
        os.link(temporary, target)
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        try:
            os.close(os.open(target, _WRITE, 0o666))
        except FileExistsError:
            return False
        os.replace(temporary, target)  # noqa: PTH105 - the name is ours: nobody else makes files that are there
        return True
    os.unlink(temporary)  # noqa: PTH108
    return True


def sync_folder(folder: Path) -> None:
    """Make new names last; some systems cannot open a folder, and need not."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def replace(folder: Path, path: str, data: bytes, *, seen: os.stat_result) -> os.stat_result:
    """Give a note new bytes, if its file is still as it was `seen`; BusyError where it is not."""
    target = f"{folder}/{path}"
    parent = Path(target).parent
    try:
        temporary = _write_temporary(parent, data)
        try:
            _keep_owner(seen, temporary)
            if not is_same(folder, path, seen):
                raise changed_meanwhile(path)
            os.replace(temporary, target)  # noqa: PTH105
        except BaseException:
            os.unlink(temporary)  # noqa: PTH108
            raise
        sync_folder(parent)
        return os.lstat(target)
    except OSError as error:
        raise unwritable(parent, error) from error


def is_same(folder: Path, path: str, seen: os.stat_result) -> bool:
    """Whether a file is the one that was seen, unchanged."""
    try:
        now = os.lstat(f"{folder}/{path}")
    except OSError:
        return False
    return (now.st_ino, now.st_mtime_ns, *stamp_of(now)) == (seen.st_ino, seen.st_mtime_ns, *stamp_of(seen))


def changed_meanwhile(path: str) -> BusyError:
    """The error of a file that somebody else has written."""
    return BusyError(
        f"{printable(path)} was changed by another program meanwhile; nothing was written",
        code="changed_meanwhile",
        hint="look at it, then try again",
    )


def _keep_owner(seen: os.stat_result, temporary: str) -> None:
    os.chmod(temporary, stat.S_IMODE(seen.st_mode))  # noqa: PTH101
    if hasattr(os, "chown") and (seen.st_uid, seen.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(PermissionError):
            os.chown(temporary, seen.st_uid, seen.st_gid)


def move_to_trash(folder: Path, path: str, trash: Path, note_id: str) -> Path:
    """Move a note into a folder of its own below `trash`, under its path; returns its new place."""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    place = trash / f"{moment}-{os.urandom(4).hex()}" / path
    try:
        place.parent.mkdir(parents=True)
        _move(folder / path, place)
    except FileNotFoundError:
        _remove_empty(place.parent, trash)
        raise NotFoundError(
            f"there is no note {printable(note_id)} any more", code="note_not_found", hint="see: ctx note list"
        ) from None
    except OSError as error:
        _remove_empty(place.parent, trash)
        raise unwritable(place.parent, error) from error
    _remove_empty((folder / path).parent, folder)
    return place


def restore_from_trash(place: Path, relative: str, folder: Path) -> tuple[str, os.stat_result]:
    """Put a note back under its old path, or under one like it where that is taken."""
    plain = PurePosixPath(relative)
    names = [relative, *(str(plain.with_name(f"{plain.stem} {number}{plain.suffix}")) for number in range(2, 1000))]
    try:
        data, status = read(place.parent, place.name)
    except OSError as error:
        raise DataError(f"{printable(str(place))} cannot be read: {reason(error)}", code="unreadable") from error
    found = create(folder, names, data, below=str(plain.parent), mode=status)
    place.unlink(missing_ok=True)
    return found


def trashed(trash: Path) -> list[tuple[Path, str]]:
    """The notes in the trash, last deleted first: where each lies, and the path that it had."""
    found = []
    for deletion in sorted(trash.iterdir(), reverse=True) if trash.is_dir() else ():
        if deletion.is_dir() and not deletion.is_symlink():
            found += [(deletion / path, path) for path in sorted(scan(deletion).files)]
    return found


def purge(place: Path, trash: Path) -> None:
    """Delete a note from the trash for good."""
    place.unlink(missing_ok=True)
    _remove_empty(place.parent, trash)


def forget_deletion(place: Path, trash: Path) -> None:
    """Remove the folders that a restored note has left empty."""
    _remove_empty(place.parent, trash)


def _move(source: Path, target: Path) -> None:
    try:
        os.rename(source, target)  # noqa: PTH104
    except OSError as error:
        if error.errno != errno.EXDEV:  # the trash is on another disk
            raise
        data, status = read(source.parent, source.name)
        temporary = _write_temporary(target.parent, data)
        _keep_owner(status, temporary)
        os.replace(temporary, target)  # noqa: PTH105
        source.unlink()


def _remove_empty(folder: Path, top: Path) -> None:
    """Remove `folder` and what is above it, up to `top`, as far as they are empty."""
    while folder != top and folder.is_relative_to(top):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
