"""The workspace at a glance, and what is wrong with it."""

import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ctxcli import settings as settings_
from ctxcli.model.errors import CtxError, NotFoundError, ServiceError
from ctxcli.model.extras import install
from ctxcli.model.report import Check, Diagnosis, WorkspaceStatus
from ctxcli.services import indexing, knowledge
from ctxcli.services import workspace as workspaces
from ctxcli.services.models import KEY, language_endpoint
from ctxcli.services.state_check import check_state, count_facts, count_sessions, kept_aside
from ctxcli.services.workspace import Workspace
from ctxcli.settings import Settings, is_trusted
from ctxcli.storage import manifest
from ctxcli.storage.files import TEMPORARY, is_abandoned
from ctxcli.storage.walk import CONFLICT_COPY

_PACKAGES = ("tantivy", "pypdfium2", "pyromark", "selectolax", "PyStemmer", "chardet", "PyYAML", "typer", "rich")
_LEAST_PYTHON = (3, 11)


def status(workspace: Workspace) -> WorkspaceStatus:
    """Notes, knowledge bases, facts and sessions of a workspace; what sessions hold is read by `examine` only."""
    notes = workspace.root / workspace.settings.text("notes.dir")
    problems: list[str] = []
    return WorkspaceStatus(
        workspace=workspace.root.as_posix(),
        trusted=is_trusted(workspace.root),
        knowledge_bases=knowledge.list_all(workspace).knowledge_bases,
        notes=sum(1 for _ in notes.glob("**/*.md")) if notes.is_dir() else 0,
        facts=count_facts(workspace, "facts", problems),
        artifacts=count_facts(workspace, "artifacts", problems),
        sessions=count_sessions(workspace),
        problems=(*problems, *kept_aside(workspace)),
    )


def examine(directory: Path | None, *, fix: bool) -> Diagnosis:
    """Check the installation, the workspace and its knowledge bases; `fix` removes leftovers."""
    checks = [*_installation(), *_workspace(directory, fix=fix)]
    return Diagnosis(all(check.status != "problem" for check in checks), tuple(checks))


def _installation() -> Iterator[Check]:
    running = ".".join(map(str, sys.version_info[:3]))
    too_old = sys.version_info[:2] < _LEAST_PYTHON
    yield Check("python", "problem" if too_old else "ok", running, "3.11 or later is needed" if too_old else "")
    missing = [name for name in _PACKAGES if not _is_installed(name)]
    if missing:
        yield Check("packages", "problem", f"missing: {', '.join(missing)}", "install ctx anew")
    else:
        yield Check("packages", "ok", "all are there")
    if not _is_installed("python-calamine"):
        yield Check("xlsx", "ok", "spreadsheets are not read, that needs the extra `xlsx`", install("xlsx"))


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _workspace(directory: Path | None, *, fix: bool) -> Iterator[Check]:
    try:
        workspace = workspaces.find(directory)
    except NotFoundError as error:
        yield Check("workspace", "warning", error.message, error.hint)
        yield from _elsewhere()
        return
    yield Check("workspace", "ok", workspace.root.as_posix())
    try:
        ignored = workspace.settings.ignored
    except CtxError as error:
        yield Check("settings", "problem", error.message, error.hint)
        return
    if ignored:
        yield Check("settings", "warning", f"ignored: {', '.join(ignored)}", "if you trust them: ctx trust")
    else:
        yield Check("settings", "ok", "all are known")
    yield _model(workspace.settings)
    for name in workspace.kb_names():
        yield _index(workspace, name)
        yield from _vectors(workspace, name)
    yield from check_state(workspace, fix=fix)
    yield from _leftovers(workspace, fix=fix)
    yield from _conflicts(workspace)


def _elsewhere() -> Iterator[Check]:
    """What can be said outside of any workspace: the user's own settings."""
    try:
        yield _model(settings_.load(None))
    except CtxError as error:
        yield Check("settings", "problem", error.message, error.hint)


def _model(settings: Settings) -> Check:
    """Which language model would be asked. None is asked here, and no key is shown."""
    title = "language model"
    try:
        endpoint = language_endpoint(settings)
    except ServiceError as error:
        if error.code == "no_model":
            return Check(title, "ok", "none is named; only `ask --llm` and `chat` need one", error.hint)
        return Check(title, "warning", error.message, error.hint)
    key = f"{KEY} is set" if endpoint.key else f"{KEY} is not set"
    said = f"{endpoint.model} at {endpoint.shown}; {key}"
    if endpoint.key and not endpoint.is_local and endpoint.base_url.lower().startswith("http:"):
        return Check(title, "warning", f"{said} and would be sent unencrypted", "write the address with https://")
    return Check(title, "ok", said)


def _index(workspace: Workspace, name: str) -> Check:
    title = f"knowledge base {name}"
    update = "ctx kb index" + ("" if name == workspaces.DEFAULT_KB else f" --kb {name}")
    try:
        found = knowledge.info(workspace, name)
        preview = indexing.preview(workspace, indexing.IndexRequest(kb=name))
    except CtxError as error:
        return Check(title, "problem", error.message, error.hint or f"{update} --rebuild")
    stale = len(preview.new) + len(preview.changed) + len(preview.removed)
    if stale:
        return Check(title, "warning", f"{stale} files are new, changed or gone", update)
    if found.failed or preview.failures:
        count = found.failed + len(preview.failures)
        return Check(title, "warning", f"{count} files could not be read", f"ctx kb files --failed --kb {name}")
    return Check(title, "ok", f"{found.files} files, {found.chunks} chunks, up to date")


def _vectors(workspace: Workspace, name: str) -> Iterator[Check]:
    """Whether a knowledge base can be asked by meaning, and how it is searched; nothing where it has no model."""
    try:
        found = knowledge.info(workspace, name).embedding
    except CtxError:
        return
    if found is None:
        return
    title, update = f"vectors of {name}", "ctx kb index" + ("" if name == workspaces.DEFAULT_KB else f" --kb {name}")
    if not found.current:
        yield Check(title, "warning", f"those of {found.model} are not there, or not those of the index", update)
        return
    from ctxcli.index import neighbours, vectors

    folder, file = workspace.kb_folder(name), neighbours.FILE
    shown = f"{found.model}, {found.chunks} chunks"
    opened = vectors.VectorFile(folder / vectors.FILE)
    if not opened.is_whole():
        yield Check(title, "problem", f"{shown}: {vectors.FILE} is not as it was written", f"embed anew: {update}")
    elif not (folder / file).exists():
        yield Check(title, "ok", f"{shown}, searched exactly")
    elif (lists := neighbours.open_neighbours(folder, opened.header)) is None or not lists.is_whole():
        yield Check(title, "warning", f"{shown}, searched exactly: {file} is damaged or belongs to others", update)
    elif neighbours.faiss() is None:
        yield Check(title, "warning", f"{shown}, searched exactly: FAISS is not installed", install("faiss"))
    else:
        yield Check(title, "ok", f"{shown}, searched with FAISS")


def _leftovers(workspace: Workspace, *, fix: bool) -> Iterator[Check]:
    """Half-written files, and folders of knowledge bases whose first run was interrupted."""
    found = [path for path in workspace.folder.rglob(f"{TEMPORARY}*") if is_abandoned(path)]
    folders = [path for path in (workspace.folder / "kb").glob("*") if path.is_dir()]
    found += [path for path in folders if not (path / manifest.FILE).exists()]
    if not found:
        yield Check("leftovers", "ok", "none")
        return
    names = ", ".join(path.relative_to(workspace.root).as_posix() for path in found[:5])
    if fix:
        for path in found:
            _remove(workspace, path)
    yield Check("leftovers", "ok" if fix else "warning", names, "" if fix else "ctx doctor --fix", fix)


def _remove(workspace: Workspace, path: Path) -> None:
    if not path.is_dir():
        path.unlink(missing_ok=True)
    elif workspaces.is_kb_name(path.name):
        indexing.remove(workspace, path.name)
    else:
        shutil.rmtree(path, ignore_errors=True)


def _conflicts(workspace: Workspace) -> Iterator[Check]:
    notes = workspace.root / workspace.settings.text("notes.dir")
    places = [workspace.folder.glob("*"), notes.rglob("*") if notes.is_dir() else ()]
    found = [path for place in places for path in place if CONFLICT_COPY.match(path.name)]
    if found:
        names = ", ".join(path.relative_to(workspace.root).as_posix() for path in found[:5])
        yield Check("conflict copies", "warning", names, "compare them with the originals, then delete them")
    else:
        yield Check("conflict copies", "ok", "none")
