"""Notes for agents: one object, one method, dictionaries in and out."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ctxcli.model.errors import UsageError
from ctxcli.services import workspace as workspaces
from ctxcli.services.note_filter import NoteFilter, bound
from ctxcli.services.note_values import wanted_tags
from ctxcli.services.notes import Notebook, NoteChange
from ctxcli.services.workspace import Workspace

_FILTERS = ("note_type", "tags", "tags_match", "since", "until")


class NoteTool:
    """The notes of a workspace, for agents.

    `workspace` is a folder (made a workspace when the first note is created), or None for the one that the command
    line would take. Each call sees the files as they are; several processes may use one workspace at once.

        tool = NoteTool("project")
        note = tool.run({"action": "create", "title": "Plan", "content": "…", "note_type": "action", "tags": ["q3"]})
        tool.run({"action": "search", "query": "plan"})["notes"][0]["id"]
    """

    def __init__(self, workspace: str | Path | Workspace | None = None) -> None:
        self._given = workspace if isinstance(workspace, Workspace) else Path(workspace) if workspace else None
        self.notices: list[str] = []

    def run(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Do one action and return the document that the command of that name prints with ``--json``.

        action    parameters (those in brackets may be left out)
        create    title, [content, note_type, tags]                      ``ctx/note/1``
        read      note_id (`show` is the same)                           ``ctx/note/1``
        update    note_id, [title, content, append, note_type, tags, add_tags, remove_tags]
        search    query, [limit, note_type, tags, tags_match, since, until]      ``ctx/notes/1``
        list      [limit, sort, note_type, tags, tags_match, since, until]       ``ctx/notes/1``
        summary                                                          ``ctx/note-summary/1``
        delete    note_id, [purge]                                       ``ctx/note-deletion/1``
        restore   note_id                                                ``ctx/note/1``
        links     [note_id]                                              ``ctx/note-links/1``
        import    folder, [dry_run, update]                                   ``ctx/note-import/1``
        export    folder, [dry_run]                                      ``ctx/note-export/1``
        check                                                            ``ctx/note-check/1``

        `note_id` is an id, the beginning of one, or a path; a title too, but not for delete. `tags` is a list or
        ``"a, b"``; notes with all of them are taken, with ``tags_match="any"`` those with any. `since` and `until`
        are dates or ``"7 days"``. Raises CtxError; `notices` then holds what is to be said beside the result.
        """
        if not isinstance(parameters, Mapping):
            raise UsageError(
                f"the parameters must be a mapping, not {type(parameters).__name__}",
                code="bad_parameters",
                hint='give one: {"action": "list"}',
            )
        given = dict(parameters)
        action = given.pop("action", None)
        if not isinstance(action, str) or action not in _ACTIONS:
            raise UsageError(f"there is no action {action!r}", code="unknown_action", hint=_nearest(action, _ACTIONS))
        allowed, act = _ACTIONS[action]
        for name in given:
            if name not in allowed:
                raise UsageError(
                    f"{action}: there is no parameter {name!r}", code="unknown_parameter", hint=_nearest(name, allowed)
                )
        notebook = Notebook(self._workspace(make=action in ("create", "import")))
        try:
            return act(notebook, _Parameters(action, given))
        finally:
            self.notices = notebook.notices

    def _workspace(self, *, make: bool) -> Workspace:
        if isinstance(self._given, Workspace):
            return self._given
        if not make:
            return workspaces.find(self._given)
        if self._given is not None:
            self._given.mkdir(parents=True, exist_ok=True)
        return workspaces.find_or_make(self._given)[0]


class _Parameters:
    """Parameters with their types checked. Lists may come as text, numbers too."""

    def __init__(self, action: str, given: Mapping[str, Any]) -> None:
        self.action = action
        self.given = given

    def text(self, name: str, *, needed: bool = False) -> str | None:
        value = self.given.get(name)
        if value is None and not needed:
            return None
        if not isinstance(value, str):
            raise self._wrong(name, "a text")
        return value

    def needed(self, name: str) -> str:
        return self.text(name, needed=True) or ""

    def number(self, name: str, default: int) -> int:
        value = self.given.get(name, default)
        if isinstance(value, str) and value.isdecimal():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self._wrong(name, "a whole number from 0 on")
        return value

    def flag(self, name: str) -> bool:
        value = self.given.get(name, False)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def texts(self, name: str) -> tuple[str, ...] | None:
        value = self.given.get(name)
        if value is None:
            return None
        if isinstance(value, str):
            return _as_texts(value)
        if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
            raise self._wrong(name, "a list of texts")
        return tuple(value)

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        value = self.given.get(name, choices[0])
        if value not in choices:
            raise self._wrong(name, f"one of {', '.join(choices)}")
        return str(value)

    def wanted(self, notebook: Notebook) -> NoteFilter:
        kind = self.text("note_type")
        return NoteFilter(
            type=None if kind is None else notebook.checked_type(kind),
            tags=wanted_tags(self.texts("tags") or ([""] if isinstance(self.given.get("tags"), str) else ())),
            any_tag=self.choice("tags_match", ("all", "any")) == "any",
            since=bound(self.text("since"), "since"),
            until=bound(self.text("until"), "until"),
        )

    def _wrong(self, name: str, what: str) -> UsageError:
        value = self.given.get(name)
        said = "is missing" if value is None else f"must be {what}, not {value!r}"
        return UsageError(f"{self.action}: {name} {said}", code="bad_parameter", hint=f"give {what}")


def _as_texts(value: str) -> tuple[str, ...]:
    """A list that came as text: JSON, or parted by commas."""
    import json

    if value.lstrip().startswith("["):
        try:
            found = json.loads(value)
        except ValueError:
            found = None
        if isinstance(found, list) and all(isinstance(one, str) for one in found):
            return tuple(found)
    return tuple(part.strip() for part in value.replace("，", ",").split(",") if part.strip())


def _create(notebook: Notebook, given: _Parameters) -> dict[str, Any]:
    content, tags = given.text("content") or "", given.texts("tags") or ()
    return notebook.create(given.needed("title"), content, type=given.text("note_type"), tags=tags).document()


def _read(notebook: Notebook, given: _Parameters) -> dict[str, Any]:
    return notebook.read(given.needed("note_id")).document()


def _update(notebook: Notebook, given: _Parameters) -> dict[str, Any]:
    change = NoteChange(
        title=given.text("title"),
        content=given.text("content"),
        append=given.text("append"),
        type=given.text("note_type"),
        tags=given.texts("tags"),
        add_tags=given.texts("add_tags") or (),
        remove_tags=given.texts("remove_tags") or (),
    )
    return notebook.update(given.needed("note_id"), change).document()


def _search(notebook: Notebook, given: _Parameters) -> dict[str, Any]:
    from ctxcli.services.note_search import search

    limit = given.number("limit", 10)
    return search(notebook, given.needed("query"), given.wanted(notebook), limit=limit).document()


def _list(notebook: Notebook, given: _Parameters) -> dict[str, Any]:
    sort: Any = given.choice("sort", ("updated", "created", "title"))
    return notebook.list(given.wanted(notebook), sort=sort, limit=given.number("limit", 100)).document()


def _summary(notebook: Notebook, given: _Parameters) -> dict[str, Any]:
    from ctxcli.services.note_summary import summary

    return summary(notebook).document()


def _delete(notebook: Notebook, given: _Parameters) -> dict[str, Any]:
    purge = given.flag("purge")
    return deletion(notebook.delete(given.needed("note_id"), purge=purge).fields(), purged=purge)


def deletion(note: Mapping[str, Any], *, purged: bool) -> dict[str, Any]:
    """``ctx/note-deletion/1``."""
    found = {key: note[key] for key in ("id", "title", "path")}
    return {"schema": "ctx/note-deletion/1", **found, "purged": purged}


def _restore(notebook: Notebook, given: _Parameters) -> dict[str, Any]:
    return notebook.restore(given.needed("note_id")).document()


def _links(notebook: Notebook, given: _Parameters) -> dict[str, Any]:
    from ctxcli.services.note_links import links

    return links(notebook, given.text("note_id")).document()


def _import(notebook: Notebook, given: _Parameters) -> dict[str, Any]:
    from ctxcli.services.note_transfer import import_folder, named_folder

    flags = {name: given.flag(name) for name in ("dry_run", "update")}
    return import_folder(notebook, named_folder(given.needed("folder")), **flags).document()


def _export(notebook: Notebook, given: _Parameters) -> dict[str, Any]:
    from ctxcli.services.note_transfer import export_folder, named_folder

    return export_folder(notebook, named_folder(given.needed("folder")), dry_run=given.flag("dry_run")).document()


def _check(notebook: Notebook, given: _Parameters) -> dict[str, Any]:
    from ctxcli.services.note_check import check

    return check(notebook).document()


_Act = Callable[[Notebook, _Parameters], dict[str, Any]]
_ACTIONS: Mapping[str, tuple[tuple[str, ...], _Act]] = {
    "create": (("title", "content", "note_type", "tags"), _create),
    "read": (("note_id",), _read),
    "show": (("note_id",), _read),
    "update": (("note_id", "title", "content", "append", "note_type", "tags", "add_tags", "remove_tags"), _update),
    "search": (("query", "limit", *_FILTERS), _search),
    "list": (("limit", "sort", *_FILTERS), _list),
    "summary": ((), _summary),
    "delete": (("note_id", "purge"), _delete),
    "restore": (("note_id",), _restore),
    "links": (("note_id",), _links),
    "import": (("folder", "dry_run", "update"), _import),
    "export": (("folder", "dry_run"), _export),
    "check": ((), _check),
}


def _nearest(name: object, names: Iterable[str]) -> str:
    from difflib import get_close_matches

    known = list(names)
    near = get_close_matches(str(name), known, n=1)
    return f"did you mean {near[0]}?" if near else f"use one of: {', '.join(known) or 'none'}"
