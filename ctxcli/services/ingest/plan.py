"""What changed: records of the last run beside the files that are there now (pure)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from ctxcli.model.index import FileRecord
from ctxcli.services.ingest.messages import Job
from ctxcli.storage.files import identity
from ctxcli.storage.walk import Found, Walked, is_below

ParserVersion = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Task:
    """A file to read, and its record of the last run (None: new)."""

    found: Found
    old: FileRecord | None
    known: tuple[str, ...] = ()

    def job(self) -> Job:
        """What to tell a worker."""
        return Job(self.found.file, PurePosixPath(self.found.path).name, self.found.size, self.known)


@dataclass(slots=True)
class Plan:
    """What a run has to do. `relabelled` files are unchanged but for how they are cited; `gone` are proved absent."""

    unchanged: int = 0
    tasks: list[Task] = field(default_factory=list)
    relabelled: list[tuple[FileRecord, FileRecord]] = field(default_factory=list)
    gone: list[FileRecord] = field(default_factory=list)
    twins: list[Found] = field(default_factory=list)
    outdated: dict[tuple[str, str], int] = field(default_factory=dict)
    """Files to be read again since their parser changed, by (old, new) parser."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing has to be written."""
        return not (self.tasks or self.relabelled or self.gone)


def make_plan(
    records: Iterable[FileRecord],
    walked: Walked,
    *,
    scope: Sequence[str],
    parser_version: ParserVersion,
) -> Plan:
    """Compare `records` with what a walk of the folders in `scope` (as cited) found.

    Of two files whose names differ only in how letters are composed the first is taken, the other is a twin.
    """
    by_identity = {identity(record.path): record for record in records}
    plan = Plan()
    seen: dict[str, Found] = {}
    twins: dict[str, Found] = {}
    for found in sorted(walked.found, key=lambda one: one.path):
        key = identity(found.path)
        if key not in seen:
            seen[key] = found
        elif seen[key].path != found.path and found.path not in twins:
            twins[found.path] = found
    plan.twins = list(twins.values())
    for key, found in seen.items():
        _place(plan, found, by_identity.get(key), parser_version)
    plan.gone = [
        record
        for key, record in sorted(by_identity.items())
        if key not in seen and _is_gone(record.path, scope=scope, unknown=walked.unknown)
    ]
    plan.tasks = _with_known_digests(plan, parser_version)
    return plan


def _place(plan: Plan, found: Found, old: FileRecord | None, parser_version: ParserVersion) -> None:
    if old is None or old.status == "failed":
        plan.tasks.append(Task(found, old))
    elif old.parser != (current := parser_version(old.format)):
        plan.tasks.append(Task(found, old))
        plan.outdated[old.parser, current] = plan.outdated.get((old.parser, current), 0) + 1
    elif (old.size, old.mtime_ns) != (found.size, found.mtime_ns):
        plan.tasks.append(Task(found, old, (old.sha256,)))
    else:
        plan.unchanged += 1
        if (old.path, old.root) != (found.path, found.root):
            plan.relabelled.append((old, replace(old, path=found.path, root=found.root)))


def _is_gone(path: str, *, scope: Sequence[str], unknown: Sequence[str]) -> bool:
    return any(is_below(path, folder) for folder in scope) and not any(is_below(path, folder) for folder in unknown)


def _with_known_digests(plan: Plan, parser_version: ParserVersion) -> list[Task]:
    """Tell new files apart from renamed ones: those need no parsing where the same parser would say the same."""
    digests: dict[tuple[int, str], list[str]] = defaultdict(list)
    for record in plan.gone:
        if keeps_chunks(record, parser_version):
            digests[record.size, suffix(record.path)].append(record.sha256)
    return [
        replace(task, known=(*task.known, *more))
        if (more := digests.get((task.found.size, suffix(task.found.path))))
        else task
        for task in plan.tasks
    ]


def keeps_chunks(record: FileRecord, parser_version: ParserVersion) -> bool:
    """Whether a renamed file may keep its chunks: its title must not come from its name, its parser be current."""
    return record.status == "ok" and not record.title_from_name and record.parser == parser_version(record.format)


def suffix(path: str) -> str:
    """The ending of a name, which helps to tell its format."""
    return PurePosixPath(path).suffix.lower()


class DocIds:
    """Gives out document ids: the start of the digest, with -2, -3, … where another file has it already."""

    def __init__(self, records: Iterable[FileRecord]) -> None:
        self._by_path = {record.path: record.doc_id for record in records if record.doc_id}
        self._taken = set(self._by_path.values())

    def take(self, sha256: str, path: str, *, prefer: str = "") -> str:
        """An id for the file at `path`, which gives up the one it had; `prefer` is taken where it is free."""
        self.free(path)
        doc_id = prefer or sha256[:16]
        number = 1
        while doc_id in self._taken:
            number += 1
            doc_id = f"{sha256[:16]}-{number}"
        self._taken.add(doc_id)
        self._by_path[path] = doc_id
        return doc_id

    def free(self, path: str) -> None:
        """Let go of the id of a file."""
        self._taken.discard(self._by_path.pop(path, ""))
