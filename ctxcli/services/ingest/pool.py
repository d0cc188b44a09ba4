"""Worker processes that read files, each with limits; what they answer comes back in the order asked."""

import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from ctxcli.model.errors import DataError
from ctxcli.services.ingest import worker
from ctxcli.services.ingest.messages import Failed, Job, Outcome, receive, send
from ctxcli.settings import Settings

_AHEAD = 256
"""Files that may be read before an earlier one is done."""
_AHEAD_BYTES = 64 << 20
_START_SECONDS = 60.0
_MEMORY_SIGNS = (b"memory allocation", b"MemoryError", b"bad_alloc", b"out of memory", b"Cannot allocate memory")
_BYTES_PER_WORKER = 1 << 20
_PIPE_BYTES = 1 << 20
"""What a pipe holds, where the system lets it: an answer then goes through in one piece."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may cost. `memory` in bytes, 0 for no limit."""

    max_bytes: int = 64 << 20
    memory: int = 2 << 30
    seconds: float = 60.0
    seconds_per_mb: float = 10.0

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The limits that are set."""
        return cls(
            max_bytes=int(settings.number("index.max_file_mb") * 2**20),
            memory=settings.integer("index.file_memory_mb") * 2**20,
            seconds=settings.number("index.file_seconds"),
            seconds_per_mb=settings.number("index.file_seconds_per_mb"),
        )

    def seconds_for(self, size: int) -> float:
        """The time that a file of `size` bytes may take."""
        return self.seconds + self.seconds_per_mb * size / 2**20


def command(limits: Limits, *, analyzer: str) -> list[str]:
    """The command line of a worker. The current folder is no place to import from: it is the user's."""
    package_root = str(Path(__file__).parents[3])
    code = f"import sys; sys.path.append({package_root!r}); from {worker.__name__} import main; main()"
    return [sys.executable, "-P", "-X", "utf8", "-c", code, str(limits.memory), str(limits.max_bytes), analyzer]


def size_for(jobs: Sequence[Job], most: int) -> int:
    """How many workers pay: a process costs as much as a megabyte of text."""
    return max(1, min(most, len(jobs), 1 + sum(job.size for job in jobs) // _BYTES_PER_WORKER))


@dataclass(eq=False, slots=True)
class _Child:
    """A worker process; `at` is the number of the job it has, -1 for none."""

    process: "subprocess.Popen[bytes]"
    complaints: IO[bytes]
    at: int = -1
    job: Job | None = None
    deadline: float = 0.0
    ready: bool = False
    timed_out: bool = False


@dataclass(slots=True)
class _Window:
    """Answers that wait for an earlier one, as bytes: they are small so."""

    answers: dict[int, bytes | Failed] = field(default_factory=dict)
    held: int = 0
    next: int = 0

    def add(self, at: int, answer: bytes | Failed) -> None:
        self.answers[at] = answer
        self.held += len(answer) if isinstance(answer, bytes) else 0

    def take(self) -> Iterator[Outcome]:
        while (answer := self.answers.pop(self.next, None)) is not None:
            self.next += 1
            if isinstance(answer, bytes):
                self.held -= len(answer)
                yield pickle.loads(answer)
            else:
                yield answer

    def has_room(self, at: int) -> bool:
        return at == self.next or (at - self.next < _AHEAD and self.held < _AHEAD_BYTES)


class Pool:
    """Runs jobs in at most `size` processes; a process that dies or overruns costs one file, and is replaced."""

    def __init__(self, command: Sequence[str], *, size: int, limits: Limits) -> None:
        self._command = list(command)
        self._size = size
        self._limits = limits
        self._children: list[_Child] = []
        self._events: queue.SimpleQueue[tuple[_Child, tuple[bytes, bool] | None]] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        for child in self._children:
            _end(child)
        self._children.clear()

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome]]:
        """Yield each job with its outcome, in the order given."""
        waiting = deque(enumerate(jobs))
        asked = deque(job for _, job in waiting)
        window = _Window()
        while asked:
            self._hand_out(waiting, window)
            self._wait(window)
            for outcome in window.take():
                yield asked.popleft(), outcome

    def _hand_out(self, waiting: "deque[tuple[int, Job]]", window: _Window) -> None:
        while waiting and window.has_room(waiting[0][0]) and (child := self._idle_child()):
            child.at, child.job = waiting.popleft()
            child.deadline = time.monotonic() + self._limits.seconds_for(child.job.size)
            if not child.ready:
                child.deadline += _START_SECONDS
            with suppress(BrokenPipeError):  # its end is an event, which is handled as such
                send(_pipe(child.process.stdin), pickle.dumps(child.job))

    def _idle_child(self) -> _Child | None:
        for child in self._children:
            if child.job is None:
                return child
        return self._start() if len(self._children) < self._size else None

    def _start(self) -> _Child:
        complaints = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            pipesize=_PIPE_BYTES,
        )
        child = _Child(process, complaints)
        self._children.append(child)
        threading.Thread(target=self._listen, args=(child,), daemon=True).start()
        return child

    def _listen(self, child: _Child) -> None:
        with suppress(OSError, ValueError):  # the stream is closed under it when the pool ends
            while message := receive(_pipe(child.process.stdout)):
                self._events.put((child, message))
        self._events.put((child, None))

    def _wait(self, window: _Window) -> None:
        """Handle one event, or end the children whose time is over."""
        deadlines = [child.deadline for child in self._children if child.job]
        try:
            timeout = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
            child, message = self._events.get(timeout=timeout)
        except queue.Empty:
            self._end_late()
            return
        if message is None:
            self._bury(child, window)
        elif not child.ready:
            child.ready = True
            if child.job:
                child.deadline = time.monotonic() + self._limits.seconds_for(child.job.size)
        else:
            window.add(child.at, message[0])
            child.at, child.job = -1, None
            if message[1]:
                self._children.remove(child)
                _end(child)

    def _end_late(self) -> None:
        now = time.monotonic()
        for child in self._children:
            if child.job and child.deadline <= now:
                child.timed_out = True
                child.deadline = now + _START_SECONDS
                child.process.kill()

    def _bury(self, child: _Child, window: _Window) -> None:
        if child not in self._children:
            return
        self._children.remove(child)
        child.process.wait()
        failure = self._why(child)
        job, at = child.job, child.at
        ready = child.ready
        _end(child)
        if not ready:
            raise DataError(
                f"the processes that read files do not start: {failure.message}",
                code="workers_failed",
                hint="run `ctx doctor`",
            )
        if job:
            window.add(at, failure)

    def _why(self, child: _Child) -> Failed:
        if child.timed_out and child.job:
            seconds = self._limits.seconds_for(child.job.size)
            hint = "raise the limit with: ctx config set index.file_seconds N"
            return Failed("timeout", f"reading it took more than {seconds:.0f} seconds", hint)
        tail = _tail(child.complaints)
        if any(sign in tail for sign in _MEMORY_SIGNS):
            return Failed("memory", "reading it takes more memory than is allowed")
        if os.environ.get("CTX_DEBUG"):
            sys.stderr.write(tail.decode("utf-8", "replace"))
        return Failed("crashed", f"the process that read it ended ({_ending(child.process.returncode)})")


def _ending(code: int) -> str:
    if code < 0:
        with suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


def _tail(stream: IO[bytes], size: int = 4096) -> bytes:
    end = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, end - size))
    return stream.read()


def _end(child: _Child) -> None:
    child.process.kill()
    child.process.wait()
    for stream in (child.process.stdin, child.process.stdout, child.complaints):
        with suppress(OSError, ValueError):
            _pipe(stream).close()


def _pipe(stream: IO[bytes] | None) -> Any:
    assert stream is not None  # both pipes were asked for
    return stream
