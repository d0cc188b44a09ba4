"""The worker process: reads, hashes and prepares files until its input ends.

It is a process of its own because hostile files crash, hang or blow up the libraries that read them. Its memory is
limited; the parent watches the time.
"""

import os
import pickle
import signal
import sys
import threading
import time
from queue import SimpleQueue
from typing import BinaryIO

from ctxcli.model.errors import CtxError
from ctxcli.services.ingest.messages import Failed, Job, Outcome, Read, receive, send
from ctxcli.storage.files import reason, sha256

HELLO = b"ready"
_RACY_NS = 50_000_000
"""A file changed within this time may change again without its time moving: it is read again in the next run."""


def main() -> None:
    """Serve jobs from stdin to stdout. Arguments: bytes of memory (0: no limit), bytes a file may have, analyzer."""
    memory, max_bytes, analyzer = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    answers = _take_stdout()
    _die_with_parent()
    _limit(memory)
    jobs: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, jobs), daemon=True).start()
    send(answers, HELLO)
    while True:
        job: Job = pickle.loads(jobs.get())
        payload, last = _answer(job, max_bytes=max_bytes, analyzer=analyzer)
        last = last or _is_swollen(memory)
        send(answers, payload, last=last)
        if last:
            os._exit(0)


def _take_stdout() -> BinaryIO:
    """Keep the pipe to the parent; what a library prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    return answers


def _die_with_parent() -> None:
    """Ctrl-C is the parent's; the end of the parent is seen as the end of stdin, on Linux also by a hanging child."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    most = 1 << 20 if allowed == resource.RLIM_INFINITY else min(1 << 20, allowed)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if memory and (hard == resource.RLIM_INFINITY or memory <= hard):
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _is_swollen(memory: int) -> bool:
    """Whether what is left of the memory may be too little for the next file."""
    if not memory or sys.platform == "win32":
        return False
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit > memory // 2


def _listen(stream: BinaryIO, jobs: "SimpleQueue[bytes]") -> None:
    while message := receive(stream):
        jobs.put(message[0])
    os._exit(0)


def _answer(job: Job, *, max_bytes: int, analyzer: str) -> tuple[bytes, bool]:
    """The pickled outcome, and whether this process had better end."""
    try:
        return pickle.dumps(handle(job, max_bytes=max_bytes, analyzer=analyzer), pickle.HIGHEST_PROTOCOL), False
    except MemoryError:
        return pickle.dumps(Failed("memory", "reading it takes more memory than is allowed")), True


def handle(job: Job, *, max_bytes: int, analyzer: str) -> Outcome:
    """Read one file. Whatever a parser does wrong is this file's failure, not the run's."""
    got = read(job.file, max_bytes=max_bytes)
    if isinstance(got, Failed):
        return got
    data, size, mtime_ns = got
    digest = sha256(data)
    if digest in job.known:
        return Read(size, mtime_ns, digest, None)
    from ctxcli.parsing import formats  # on use: files that only moved need no parser
    from ctxcli.services.prepare import prepare

    try:
        if job.whole:
            return Read(size, mtime_ns, digest, None, formats.parse(data, name=job.name))
        return Read(size, mtime_ns, digest, prepare(data, name=job.name, analyzer=analyzer))
    except CtxError as error:
        return Failed(error.code, error.message, error.hint, size, mtime_ns, digest)
    except MemoryError:
        raise
    except RecursionError:
        return Failed("too_deep", "it is nested too deeply", "", size, mtime_ns, digest)
    except Exception as error:  # a parser's bug must not end the run
        if os.environ.get("CTX_DEBUG"):
            raise
        message = f"its reader failed ({type(error).__name__}: {error}); this is a bug of ctx"
        return Failed("parser_failed", message, "", size, mtime_ns, digest)


def read(file: str, *, max_bytes: int) -> tuple[bytes, int, int] | Failed:
    """The bytes, size and time of a file (time 0 where it is too fresh to be trusted)."""
    try:
        with open(file, "rb", buffering=0) as handle:  # noqa: PTH123 - the path is as the system gave it
            before = os.fstat(handle.fileno())
            if before.st_size > max_bytes:
                return too_large(before.st_size, max_bytes)
            data = handle.read(before.st_size + 1)
            while len(data) <= before.st_size and (more := handle.read(before.st_size + 1 - len(data))):
                data += more
            after = os.fstat(handle.fileno())
    except FileNotFoundError:
        return Failed("vanished", "it vanished before it was read")
    except OSError as error:
        return Failed("unreadable_file", f"it cannot be read: {reason(error)}")
    if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns) or len(data) != after.st_size:
        return Failed("changed", "it changed while it was read")
    racy = abs(time.time_ns() - after.st_mtime_ns) < _RACY_NS
    return data, after.st_size, 0 if racy else after.st_mtime_ns


def too_large(size: int, max_bytes: int) -> Failed:
    """The failure of a file over the limit."""
    return Failed(
        "too_large",
        f"it has {size / 2**20:.1f} MiB, the limit is {max_bytes / 2**20:g} MiB",
        "raise the limit with: ctx config set index.max_file_mb N",
        size,
    )


if __name__ == "__main__":
    main()
