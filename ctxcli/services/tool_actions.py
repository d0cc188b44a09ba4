"""What the tools of agents do: each takes checked arguments and returns a document."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ctxcli.model.documents import answer_document, hits_document
from ctxcli.model.report import document
from ctxcli.services import workspace as workspaces
from ctxcli.services.workspace import Workspace
from ctxcli.storage import manifest

Arguments = Mapping[str, Any]
HITS = 8


def _asking(workspace: Workspace, given: Arguments) -> Any:
    from ctxcli.services.asking import Asking

    return Asking.of(workspace=workspace.root, kb=given.get("kb", ()), notes=given.get("notes"))


def _kbs(workspace: Workspace, given: Arguments) -> list[str]:
    """The knowledge bases to look into by id or name: those named, else all, that of the notes too."""
    named = list(given.get("kb", ()))
    own = (name for name in workspaces.OWN_KBS if (workspace.kb_folder(name) / manifest.FILE).is_file())
    return named or [*workspace.kb_names(), *own]


def address(doc: str, *, page: int | None = None, line: int | None = None) -> str:
    """A place in a document as an address that names it and nothing else."""
    part = f"#page={page}" if page else f"#L{line}" if line else ""
    return f"ctx://doc/{quote(doc)}{part}"


def search(workspace: Workspace, given: Arguments) -> dict[str, Any]:
    """``ctx/hits/1`` without the chunks, which `fetch` brings."""
    from ctxcli.services.answering import Filters

    filters = Filters(given.get("section", ""), given.get("doc", ""))
    limit = given.get("limit", HITS)
    hits = _asking(workspace, given).search(given["query"], limit=limit, filters=filters)
    found = hits_document(hits)
    for row in found["hits"]:
        row.pop("text")
        row["id"] = row["chunk_id"]
        row["url"] = address(row["doc"], page=row["page"], line=row["line_start"])
    return found


def fetch(workspace: Workspace, given: Arguments) -> dict[str, Any]:
    """``ctx/chunk/1``, with what connectors look for: id, url, metadata."""
    from ctxcli.services import knowledge

    found = document(knowledge.show(workspace, given["id"].strip(), _kbs(workspace, given)))
    place = {name: str(found[name]) for name in ("section", "heading", "page", "line_start") if found[name] is not None}
    url = address(found["doc"], page=found["page"], line=found["line_start"])
    return {**found, "id": found["chunk_id"], "url": url, "metadata": {"doc": found["doc"], **place}}


def ask(workspace: Workspace, given: Arguments) -> dict[str, Any]:
    """``ctx/answer/1``: excerpts, never worded by another model."""
    asking = _asking(workspace, given)
    if "threshold" in given:
        asking = replace(asking, threshold=given["threshold"])
    return answer_document(asking.ask(given["question"].strip()))


def get(workspace: Workspace, given: Arguments) -> dict[str, Any]:
    """``ctx/document/1``."""
    from ctxcli.services import reading

    wanted = reading.Wanted(given.get("section"), given.get("page"), given.get("line_start"), given.get("line_end"))
    limit = given.get("limit", reading.LIMIT)
    return document(reading.read(workspace, given["doc"], wanted, kb=_kbs(workspace, given), limit=limit))


def outline(workspace: Workspace, given: Arguments) -> dict[str, Any]:
    """``ctx/outline/1``."""
    from ctxcli.services import knowledge

    return document(knowledge.outline(workspace, given["doc"], _kbs(workspace, given)))


def status(workspace: Workspace, given: Arguments) -> dict[str, Any]:
    """``ctx/status/1``."""
    from ctxcli.services import diagnosis

    return document(diagnosis.status(workspace))


def note(action: str) -> Any:
    """An action of `NoteTool` as a tool."""

    def run(workspace: Workspace, given: Arguments) -> dict[str, Any]:
        from ctxcli.services.note_tool import NoteTool

        return NoteTool(workspace).run({"action": action, **given})

    return run


def facts(workspace: Workspace, given: Arguments) -> dict[str, Any]:
    """``ctx/facts/1``."""
    from ctxcli.services.facts import Facts

    return Facts(workspace).list(given.get("prefix", "")).document()


def fact_set(workspace: Workspace, given: Arguments) -> dict[str, Any]:
    """``ctx/fact/1``."""
    from ctxcli.services.facts import Facts, read_value

    value = read_value(given["value"]) if isinstance(given["value"], str) else given["value"]
    return Facts(workspace).set(given["key"], value, source=given["source"], step=given.get("step")).document()


def context(workspace: Workspace, given: Arguments) -> dict[str, Any]:
    """``ctx/context/1``."""
    from ctxcli.packing.builder import ContextConfig
    from ctxcli.services.context import ContextBuilder, Sources

    kb: Sequence[str] = given.get("kb", ())
    sources = Sources(tuple(kb), given.get("notes", True), given.get("facts", True), given.get("session"))
    budget = given.get("budget", workspace.settings.integer("context.budget"))
    return ContextBuilder(ContextConfig(budget=budget), workspace=workspace, sources=sources).build(
        given["query"]
    ).document()  # fmt: skip


def reindex(workspace: Workspace, given: Arguments) -> dict[str, Any]:
    """``ctx/index-report/1``: knowledge bases brought up to date with their folders."""
    from ctxcli.services import indexing, knowledge

    name = given.get("name") or knowledge.the_only(workspace)
    return document(indexing.index(workspace, indexing.IndexRequest(kb=name)))


def find(directory: Path | None) -> Workspace:
    """The workspace as it is now."""
    return workspaces.find(directory)
