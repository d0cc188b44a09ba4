"""Knowledge bases made, brought up to date and removed."""

import shutil
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ctxcli.model.errors import BusyError, CtxError, DataError, NotFoundError, ServiceError
from ctxcli.model.index import FileRecord, IndexWriter
from ctxcli.model.report import Failure, IndexPreview, IndexReport, Notice, Removal
from ctxcli.services.ingest import vectors
from ctxcli.services.ingest.look import Places, look
from ctxcli.services.ingest.plan import ParserVersion, Plan, make_plan
from ctxcli.services.ingest.pool import Limits
from ctxcli.services.ingest.run import Outcomes, Reading, Watcher, apply
from ctxcli.services.ingest.target import Target, target_of
from ctxcli.services.workspace import DEFAULT_KB, Workspace
from ctxcli.storage import manifest
from ctxcli.storage.files import locked, processors, reason
from ctxcli.storage.manifest import Manifest, Root
from ctxcli.storage.walk import Walked, is_below


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """What to index. Without `paths` all roots are brought up to date.

    A path inside a root brings only that part up to date; any other becomes a root. `include` and `exclude`
    (patterns of ``.gitignore``) are remembered with the roots that are named; None keeps what was remembered.
    `jobs` is the number of worker processes at most, 0 for the setting. `worker` replaces their command line.
    `embed` names the model that chunks are embedded with from now on, ``none`` for none; None keeps the one before.
    Without `vectors` those that are there are left behind.
    """

    kb: str = DEFAULT_KB
    paths: tuple[Path, ...] = ()
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    rebuild: bool = False
    jobs: int = 0
    worker: tuple[str, ...] = ()
    embed: str | None = None
    vectors: bool = True


def index(workspace: Workspace, request: IndexRequest, *, watch: Watcher = lambda _: None) -> IndexReport:
    """Bring a knowledge base up to date, in one commit.

    Raises NotFoundError where a path (or every root) is missing, BusyError where another process writes.
    Whatever interrupts it leaves the former index as it was. Vectors are made after the commit: where their model fails
    (ServiceError) the index is up to date all the same.
    """
    started = time.monotonic()
    folder = workspace.kb_folder(request.kb)
    with _writing(workspace, request.kb):
        current, notices = _current(workspace, request)
        embed = vectors.chosen_model(workspace, request.kb, request.embed, current)
        if notices:
            shutil.copy(folder / manifest.FILE, folder / f"{manifest.FILE}.broken")
        target = _target(workspace, request, current)
        walked = _look(workspace, target)
        fresh = current is None or request.rebuild
        engine = current.engine if current and not fresh else _new_engine(folder, current)
        writer = workspace.writer(request.kb, engine)
        notices += _begun_anew(writer)
        plan, parser_version = _plan(target, walked, writer.files())
        notices += _outdated(plan)
        reading = _reading(workspace, request)
        outcomes = apply(plan, writer, reading=reading, parser_version=parser_version, watch=watch)
        made = Manifest(request.kb, engine, target.roots, embed)
        if outcomes.changed or notices or made != current:
            writer.commit(root.path for root in target.roots)
        if made != current or notices:
            manifest.write(folder, made)
        _sweep(folder, engine)
        embedding = vectors.embed(workspace, made, watch, notices, anew=request.rebuild) if request.vectors else None
    notices += _nothing(target, walked)
    report = _report(request.kb, target, walked, outcomes, writer.files(), notices, time.monotonic() - started)
    return replace(report, embedding=embedding) if embedding else report


def preview(workspace: Workspace, request: IndexRequest) -> IndexPreview:
    """Tell what `index` would do; reads no document and writes nothing."""
    current, notices = _current(workspace, request)
    target = _target(workspace, request, current)
    walked = _look(workspace, target)
    records: list[FileRecord] = []
    if current and not request.rebuild:
        reader = workspace.reader(request.kb)
        records = reader.files() if reader.settings == workspace.index_settings() else []
        if reader.settings != workspace.index_settings():
            notices.append(Notice("index_rebuilt", "the index would be built anew: its settings changed"))
    plan, _ = _plan(target, walked, records)
    tasks = [(task.found.path, task.old) for task in plan.tasks]
    return IndexPreview(
        kb=request.kb,
        roots=tuple(root.path for root in target.roots),
        new=tuple(path for path, old in tasks if old is None),
        changed=tuple(path for path, old in tasks if old and old.status == "ok"),
        retried=tuple(path for path, old in tasks if old and old.status == "failed"),
        removed=tuple(record.path for record in plan.gone),
        unchanged=plan.unchanged,
        skipped=walked.skipped,
        failures=_walk_failures(walked),
        notices=(*notices, *_outdated(plan)),
    )


def follow(
    workspace: Workspace,
    request: IndexRequest,
    *,
    watch: Watcher = lambda _: None,
    failed: Callable[[CtxError], None] = lambda _: None,
    seconds: float = 1.0,
) -> Generator[IndexReport]:
    """Index, and again whenever files have changed and then kept still for `seconds`; yields each report.

    What goes wrong later on is told to `failed` once, and does not end it. A folder that goes away may come back (a
    share, a build that makes it anew): it is waited for, and nothing is removed. A lock held by another, a service
    that does not answer are tried again, after a pause that doubles up to a minute.
    """
    yield index(workspace, request, watch=watch)
    request = replace(request, rebuild=False)
    roots = workspace.manifest(request.kb).roots
    known: _State | None = None  # what changed during the first run is seen so
    told, pause = "", seconds
    while True:
        now = _state(workspace, roots)
        while now != known:
            time.sleep(seconds)
            known, now = now, _state(workspace, roots)
            if now == known:
                try:
                    report = index(workspace, request, watch=watch)
                except (NotFoundError, BusyError, ServiceError) as error:
                    if error.message != told:
                        failed(error)
                        told = error.message
                    if not isinstance(error, NotFoundError):
                        pause = min(2 * pause, _LONGEST_PAUSE)
                        time.sleep(pause)
                        known = None
                    continue
                told, pause = "", seconds
                if _tells_something(report):
                    yield report
        time.sleep(seconds)


_LONGEST_PAUSE = 60.0
"""Seconds between two tries of what may work again by itself."""
_State = frozenset[tuple[str, int, int]]


def _state(workspace: Workspace, roots: tuple[Root, ...]) -> _State:
    """The files as they are now, and what cannot be looked at."""
    walked = look(_places(workspace, Target(roots, (), ())))
    found = ((one.path, one.size, one.mtime_ns) for one in walked.found)
    return frozenset((*found, *((path, -1, -1) for path in walked.unknown)))


def _tells_something(report: IndexReport) -> bool:
    return bool(report.files.indexed or report.files.moved or report.files.removed or report.files.failed)


def remove(workspace: Workspace, name: str, *, root: Path | None = None) -> Removal:
    """Take out a knowledge base, or one root of it. The documents stay where they are."""
    folder = workspace.kb_folder(name)
    if not folder.is_dir():
        raise workspace.no_kb(name)
    with _writing(workspace, name):
        if root:
            return _remove_root(workspace, workspace.manifest(name), workspace.cite(root))
        try:
            count = len(workspace.reader(name).files())
        except (DataError, NotFoundError):
            count = 0
        (folder / manifest.FILE).unlink(missing_ok=True)
        try:
            shutil.rmtree(folder)
        except OSError as error:
            raise DataError(f"{folder} cannot be removed: {reason(error)}", code="unwritable") from error
    return Removal(name, None, count)


def _remove_root(workspace: Workspace, current: Manifest, path: str) -> Removal:
    roots = tuple(root for root in current.roots if root.path != path)
    if roots == current.roots:
        known = ", ".join(root.path for root in roots)
        raise NotFoundError(f"{path} is no root of {current.name!r}", code="root_not_found", hint=f"there is: {known}")
    writer = workspace.writer(current.name, current.engine)
    lost = [
        record.path
        for record in writer.files()
        if is_below(record.path, path) and not any(is_below(record.path, root.path) for root in roots)
    ]
    writer.remove(lost)
    writer.commit(root.path for root in roots)
    kept = replace(current, roots=roots)
    manifest.write(workspace.kb_folder(current.name), kept)
    vectors.embed(workspace, kept, lambda _: None, [])
    return Removal(current.name, path, len(lost))


@contextmanager
def _writing(workspace: Workspace, name: str) -> Iterator[None]:
    """Hold the lock of a knowledge base. It lies beside the folder, so that the folder can be removed."""
    folder = workspace.kb_folder(name)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder.parent} cannot be written: {reason(error)}", code="unwritable") from error
    timeout = workspace.settings.number("index.lock_seconds")
    with locked(folder.parent / f".{name}.lock", timeout=timeout, what=f"the knowledge base {name!r}"):
        yield


def _current(workspace: Workspace, request: IndexRequest) -> tuple[Manifest | None, list[Notice]]:
    """The manifest. A broken one is made again from the index, or from the paths that are named."""
    folder = workspace.kb_folder(request.kb)
    try:
        return manifest.read(folder), []
    except DataError as error:
        notice = Notice("kb_recovered", f"{error.message}; it is written anew")
        for engine in reversed(manifest.engines(folder)):
            roots = _roots_of(folder / engine)
            if roots:
                return Manifest(request.kb, engine, roots, vectors.model_of(folder)), [notice]
        if request.paths:
            return None, [notice]
        raise


def _roots_of(engine: Path) -> tuple[Root, ...]:
    """The roots that an index remembers; their patterns stand in the manifest only."""
    from ctxcli.index.embedded import EmbeddedReader

    try:
        return tuple(Root(str(path)) for path in EmbeddedReader(engine).stats["roots"])
    except DataError:
        return ()


def _target(workspace: Workspace, request: IndexRequest, current: Manifest | None) -> Target:
    if current is None and not request.paths:
        raise workspace.no_kb(request.kb)
    from ctxcli.parsing import formats

    return target_of(
        workspace,
        current.roots if current else (),
        request.paths,
        candidate=formats.is_candidate,
        include=request.include,
        exclude=request.exclude,
    )


def _places(workspace: Workspace, target: Target) -> Places:
    from ctxcli.parsing import formats

    return Places(workspace.root, target.roots, formats.is_candidate, target.scope)


def _look(workspace: Workspace, target: Target) -> Walked:
    places = _places(workspace, target)
    walked = look(places)
    missing = [failure for failure in walked.failures if failure.code == "missing_root"]
    if missing and len(missing) == len(places.roots):
        raise NotFoundError(
            f"{', '.join(failure.path for failure in missing)} is not there; nothing was removed from the index",
            code="missing_root",
            hint="bring it back, or take it out with: ctx kb remove NAME [--root PATH]",
        )
    return walked


def _plan(target: Target, walked: Walked, records: Sequence[FileRecord]) -> tuple[Plan, ParserVersion]:
    from functools import cache

    from ctxcli.parsing import formats

    version = cache(formats.parser_version)
    reach = target.scope or tuple(root.path for root in target.roots)
    return make_plan(records, walked, scope=reach, parser_version=version), version


def _reading(workspace: Workspace, request: IndexRequest) -> Reading:
    settings = workspace.settings
    jobs = request.jobs or settings.integer("index.jobs") or processors()
    return Reading(settings.text("index.analyzer"), Limits.of(settings), jobs, request.worker)


def _begun_anew(writer: IndexWriter) -> list[Notice]:
    why = str(getattr(writer, "begun_anew", ""))
    return [Notice("index_rebuilt", f"the index is built anew: {why}")] if why else []


def _outdated(plan: Plan) -> list[Notice]:
    return [
        Notice("parser_changed", f"{count} file{'s' * (count != 1)} read again: the parser is now {new} (was {old})")
        for (old, new), count in sorted(plan.outdated.items())
    ]


def _nothing(target: Target, walked: Walked) -> list[Notice]:
    """Say why a run found no document at all."""
    if walked.found or walked.failures:
        return []
    places = ", ".join(target.named or tuple(root.path for root in target.roots))
    skipped = f"; {walked.skipped} passed over (hidden, ignored, a link, or of another kind)" if walked.skipped else ""
    return [Notice("no_documents", f"no documents in {places}{skipped}")]


def _new_engine(folder: Path, current: Manifest | None) -> str:
    return manifest.next_engine(folder, current.engine if current else None)


def _sweep(folder: Path, engine: str) -> None:
    """Remove what interrupted runs and former engines left."""
    for name in manifest.engines(folder):
        if name != engine:
            shutil.rmtree(folder / name, ignore_errors=True)


def _walk_failures(walked: Walked) -> tuple[Failure, ...]:
    return tuple(Failure(failure.path, failure.code, failure.message) for failure in walked.failures)


def _report(
    kb: str,
    target: Target,
    walked: Walked,
    outcomes: Outcomes,
    records: Sequence[FileRecord],
    notices: Sequence[Notice],
    elapsed: float,
) -> IndexReport:
    failures = sorted((*_walk_failures(walked), *outcomes.failures), key=lambda failure: failure.path)
    outcomes.counts["skipped"] += walked.skipped
    outcomes.counts["failed"] += len(walked.failures)
    roots = tuple(root.path for root in target.roots)
    return IndexReport(
        kb=kb,
        root=(target.named or roots)[0],
        roots=roots,
        files=outcomes.files(),
        chunks=sum(record.chunks for record in records),
        elapsed_s=round(elapsed, 3),
        failures=tuple(failures),
        warnings=tuple(outcomes.warnings),
        notices=tuple(notices),
    )
