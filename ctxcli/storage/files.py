"""Files on disk: written whole or not at all, guarded by locks, never outside their root."""

import errno
import os
import stat
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from ctxcli.model.errors import BusyError, DataError, UsageError

TEMPORARY = ".ctx-tmp-"
"""How the names of half-written files begin; what bears it may be deleted."""

_POLL_SECONDS = 0.05
_ABANDONED_SECONDS = 60
"""So old a half-written file is surely nobody's: a lock may not reach other machines."""


def atomic_write(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace the content of `path` at once: a reader sees the old bytes or the new ones.

    The mode (and owner, where allowed) of an existing file is kept; a symlink stays and its target is written.
    `durable` waits until the bytes are on the disk. A device or a pipe (``/dev/stdout``) is written to, never replaced.
    """
    if _is_no_file(path):
        with path.open("wb") as device:
            device.write(data)
        return
    target = path.resolve() if path.is_symlink() else path
    temporary = target.with_name(f"{TEMPORARY}{os.getpid()}-{os.urandom(4).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(data)
            handle.flush()
            if durable:
                os.fsync(handle.fileno())
        _keep_mode(target, temporary)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        _sync_folder(target.parent)


def _is_no_file(path: Path) -> bool:
    """Whether a device, a pipe or a socket is there."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def is_abandoned(path: Path) -> bool:
    """Whether a half-written file is so old that nobody can be writing it; False where it is gone."""
    try:
        return time.time() - path.lstat().st_mtime > _ABANDONED_SECONDS
    except OSError:
        return False


def write_text(path: Path, text: str, *, durable: bool = True) -> None:
    """Replace the text of `path` at once, as UTF-8 with the line ends that `text` has."""
    atomic_write(path, text.encode("utf-8", "surrogateescape"), durable=durable)


def _keep_mode(target: Path, temporary: Path) -> None:
    with suppress(FileNotFoundError):
        old = target.stat()
        temporary.chmod(stat.S_IMODE(old.st_mode))
        if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            with suppress(PermissionError):
                os.chown(temporary, old.st_uid, old.st_gid)


def _sync_folder(folder: Path) -> None:
    """Make a rename last; some systems cannot open a folder, and need not."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sha256(data: bytes) -> str:
    """The content's digest, 64 hex digits."""
    import hashlib

    return hashlib.sha256(data).hexdigest()


def identity(path: str) -> str:
    """The form under which two spellings of a path are one (NFC): disks disagree on composed letters."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def printable(name: str) -> str:
    """A name fit for any stream: bytes that are no UTF-8 are shown as ``\\xff``."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def inside(root: Path, relative: str) -> Path:
    """The place of `relative` below `root`; UsageError where it would lead out of it."""
    parts = PurePosixPath(relative.replace("\\", "/")).parts
    if not parts or ".." in parts or PurePosixPath(relative).is_absolute() or "\0" in relative:
        raise UsageError(f"{printable(relative)!r} leads out of {root}", code="path_outside")
    place = root.joinpath(*parts)
    if not place.resolve().is_relative_to(root.resolve()):
        raise UsageError(f"{printable(relative)!r} leads out of {root}", code="path_outside")
    return place


@contextmanager
def locked(path: Path, *, timeout: float, what: str) -> Iterator[None]:
    """Hold the lock file `path`; `what` names the guarded thing in the error.

    Raises BusyError with the holder's process id where the lock is not had within `timeout` seconds. The system
    lets go of the lock when the holder dies, however it dies; the file stays.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {reason(error)}", code="unwritable") from error
    try:
        _wait_for(descriptor, timeout=timeout, what=what)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode("ascii"), 0) if hasattr(os, "pwrite") else None
        yield
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int, *, timeout: float, what: str) -> None:
    deadline = time.monotonic() + timeout
    while not _try_lock(descriptor):
        if time.monotonic() >= deadline:
            os.lseek(descriptor, 0, os.SEEK_SET)
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            raise BusyError(
                f"{what} is being written by another process (pid {holder})",
                code="locked",
                hint="wait for it to end, or try again",
            )
        time.sleep(_POLL_SECONDS)


if os.name == "nt":

    def _try_lock(descriptor: int) -> bool:
        import msvcrt

        os.lseek(descriptor, 0x7FFFFFFF, os.SEEK_SET)  # beyond the text, so that others can read the holder
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True
else:

    def _try_lock(descriptor: int) -> bool:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
            return False
        return True


def reason(error: OSError) -> str:
    """What went wrong, without the path and the number."""
    return (error.strerror or str(error)).lower()
