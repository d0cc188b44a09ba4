"""One index run: read what changed, write it, commit once."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ctxcli.model.index import FileRecord, IndexWriter
from ctxcli.model.report import Failure, FileCounts, FileWarning
from ctxcli.services.ingest.messages import TRANSIENT, Failed, Job, Outcome, Read
from ctxcli.services.ingest.plan import DocIds, ParserVersion, Plan, Task, keeps_chunks, suffix
from ctxcli.services.ingest.pool import Limits, Pool, command, size_for


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, in files and in bytes; `path` is the file that was done last.

    Afterwards `unit` is ``chunks``: those that are embedded.
    """

    done: int
    total: int
    bytes_done: int
    bytes_total: int
    path: str
    unit: Literal["files", "chunks"] = "files"


Watcher = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read: the analyzer, the limits, and at most `jobs` processes.

    `command` is the command line of a worker, the usual one where it is empty.
    """

    analyzer: str
    limits: Limits
    jobs: int
    command: Sequence[str] = ()

    def pool(self, jobs: Sequence[Job]) -> Pool:
        """The worker processes for these jobs."""
        line = self.command or command(self.limits, analyzer=self.analyzer)
        return Pool(line, size=size_for(jobs, self.jobs), limits=self.limits)


@dataclass(slots=True)
class Outcomes:
    """What became of the files of a run; `changed` says whether there is anything to commit."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    warnings: list[FileWarning] = field(default_factory=list)
    changed: bool = False

    def files(self) -> FileCounts:
        """The counts of the report."""
        return FileCounts(**{name: self.counts[name] for name in FileCounts.__dataclass_fields__})


def apply(
    plan: Plan, writer: IndexWriter, *, reading: Reading, parser_version: ParserVersion, watch: Watcher
) -> Outcomes:
    """Do what the plan says with an uncommitted `writer`. Files are written in the order of their paths."""
    run = _Run(plan, writer, parser_version)
    run.relabel()
    run.read(reading, watch)
    run.remove()
    return run.outcomes


class _Run:
    def __init__(self, plan: Plan, writer: IndexWriter, parser_version: ParserVersion) -> None:
        self._plan = plan
        self._writer = writer
        self._parser_version = parser_version
        self._ids = DocIds(writer.files())
        self._gone: dict[str, FileRecord] = {record.path: record for record in plan.gone}
        self._by_digest: dict[str, list[str]] = defaultdict(list)
        for record in reversed(plan.gone):
            if record.status == "ok":
                self._by_digest[record.sha256].append(record.path)
        self.outcomes = Outcomes(Counter(unchanged=plan.unchanged))
        for twin in plan.twins:
            message = "another file's name differs from it only in how its letters are composed; that one is indexed"
            self.outcomes.warnings.append(FileWarning(twin.path, "same_name", message))
            self.outcomes.counts["skipped"] += 1

    def relabel(self) -> None:
        for old, new in self._plan.relabelled:
            self._move(old, new)

    def read(self, reading: Reading, watch: Watcher) -> None:
        """Read the files of the plan; one whose twin took the chunks of a file that is gone is read again."""
        tasks = self._plan.tasks
        if not tasks:
            return
        total, total_bytes = len(tasks), sum(task.found.size for task in tasks)
        done = bytes_done = 0
        with reading.pool([task.job() for task in tasks]) as pool:
            while tasks:
                again: list[Task] = []
                for task, (_, outcome) in zip(tasks, pool.run([task.job() for task in tasks]), strict=True):
                    if not self._handle(task, outcome):
                        again.append(replace(task, known=()))
                        continue
                    done, bytes_done = done + 1, bytes_done + task.found.size
                    watch(Progress(done, total, bytes_done, total_bytes, task.found.path))
                tasks = again

    def remove(self) -> None:
        """Take out what is proved absent and was not found again under another name."""
        if self._gone:
            self._writer.remove(list(self._gone))
            self.outcomes.changed = True
        self.outcomes.counts["removed"] += len(self._gone)

    def _handle(self, task: Task, outcome: Outcome) -> bool:
        """Write the outcome of a task; False where the file has to be read again, and prepared."""
        if isinstance(outcome, Failed):
            self._fail(task, outcome)
            return True
        if task.old and task.old.status == "ok" and task.old.sha256 == outcome.sha256 and not outcome.prepared:
            self._touch(task, task.old, outcome)
            return True
        renamed = self._renamed_from(task, outcome)
        if outcome.prepared is None and renamed is None:
            return False
        self._put(task, outcome, renamed)
        return True

    def _fail(self, task: Task, failed: Failed) -> None:
        message = f"{failed.message} ({failed.hint})" if failed.hint else failed.message
        self.outcomes.failures.append(Failure(task.found.path, failed.code, message))
        self.outcomes.counts["failed"] += 1
        if failed.code in TRANSIENT and task.old and task.old.status == "ok":
            return
        found = task.found
        record = FileRecord(
            path=found.path,
            root=found.root,
            doc_id="",
            size=max(failed.size, 0) or found.size,
            mtime_ns=found.mtime_ns,
            sha256=failed.sha256,
            status="failed",
            code=failed.code,
            message=message,
        )
        if record != task.old:
            if task.old:
                self._ids.free(task.old.path)
                self._writer.remove([task.old.path])
            self._writer.put(record, None)
            self.outcomes.changed = True

    def _touch(self, task: Task, old: FileRecord, read: Read) -> None:
        """The content is as it was: only size, time and name are noted."""
        record = replace(old, path=task.found.path, root=task.found.root, mtime_ns=read.mtime_ns)
        self.outcomes.counts["unchanged"] += 1
        if record != old:
            self._move(old, record)

    def _renamed_from(self, task: Task, read: Read) -> FileRecord | None:
        """A file that is gone and had this content; with chunks to keep where nothing was prepared."""
        if task.old and task.old.sha256 == read.sha256:
            return None
        for path in self._by_digest.get(read.sha256, ()):
            record = self._gone[path]
            same_parser = suffix(path) == suffix(task.found.path) and keeps_chunks(record, self._parser_version)
            if read.prepared is not None or same_parser:
                self._by_digest[read.sha256].remove(path)
                return record
        return None

    def _put(self, task: Task, read: Read, renamed: FileRecord | None) -> None:
        found = task.found
        for path in {renamed.path if renamed else "", task.old.path if task.old else ""}:
            self._ids.free(path)
        if renamed:
            del self._gone[renamed.path]
        kept = renamed or (task.old if task.old and task.old.sha256 == read.sha256 else None)
        doc_id = self._ids.take(read.sha256, found.path, prefer=kept.doc_id if kept else "")
        self.outcomes.counts["moved" if renamed else "indexed"] += 1
        if renamed and read.prepared is None:
            if task.old:
                self._writer.remove([task.old.path])
            here = replace(renamed, path=found.path, root=found.root, size=read.size, mtime_ns=read.mtime_ns)
            self._move(renamed, here)
            return
        spelt_otherwise = task.old is not None and task.old.path != found.path
        if renamed or spelt_otherwise:
            self._writer.remove([one.path for one in (renamed, task.old) if one])
        record = _record(task, read, doc_id)
        self._writer.put(record, read.prepared)
        self.outcomes.changed = True
        self.outcomes.warnings += [FileWarning(found.path, w.code, w.message, w.page) for w in record.warnings]

    def _move(self, old: FileRecord, new: FileRecord) -> None:
        self._writer.move(old.path, new)
        self.outcomes.changed = True


def _record(task: Task, read: Read, doc_id: str) -> FileRecord:
    prepared = read.prepared
    assert prepared is not None  # the caller has seen to it
    return FileRecord(
        path=task.found.path,
        root=task.found.root,
        doc_id=doc_id,
        size=read.size,
        mtime_ns=read.mtime_ns,
        sha256=read.sha256,
        status="ok",
        format=prepared.format,
        parser=prepared.parser,
        title=prepared.title,
        title_from_name=prepared.title_from_name,
        chunks=len(prepared.chunks),
        pages=prepared.pages,
        encoding=prepared.encoding,
        warnings=prepared.warnings,
    )
