"""The tools of agents: one list, which MCP and chat call, and from which the forms of APIs are made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ctxcli.model.chat import ToolSpec
from ctxcli.model.errors import CtxError, NotFoundError, error_document
from ctxcli.services import tool_actions as act
from ctxcli.services.tool_arguments import checked
from ctxcli.services.workspace import Workspace

Form = Literal["openai", "anthropic", "mcp"]
FORMS: tuple[Form, ...] = ("openai", "anthropic", "mcp")
Schema = dict[str, Any]
_MOST_CONTENT = 1_000_000


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what it takes (all but `required` may be left out), the document it returns, and what runs it."""

    name: str
    title: str
    description: str
    properties: Mapping[str, Schema]
    required: tuple[str, ...]
    returns: str
    run: Callable[[Workspace, Mapping[str, Any]], dict[str, Any]]
    writes: bool = False
    destructive: bool = False

    @property
    def parameters(self) -> Schema:
        """The JSON Schema of its arguments."""
        return {
            "type": "object", "properties": dict(self.properties), "required": list(self.required),
            "additionalProperties": False,
        }  # fmt: skip

    @property
    def strict_parameters(self) -> Schema:
        """The same as OpenAI's strict mode wants it: all are required, what may be left out may be null."""
        bare = {name: _without_lengths(one) for name, one in self.properties.items()}
        made = {name: one if name in self.required else _nullable(one) for name, one in bare.items()}
        return {
            "type": "object", "properties": made, "required": list(self.properties), "additionalProperties": False,
        }  # fmt: skip

    @property
    def spec(self) -> ToolSpec:
        """The tool as a chat model is told of it."""
        return ToolSpec(self.name, self.description, self.strict_parameters)


def _nullable(schema: Schema) -> Schema:
    kind = schema["type"]
    found = {**schema, "type": [*kind, "null"] if isinstance(kind, list) else [kind, "null"]}
    if "enum" in found:
        found["enum"] = [*found["enum"], None]
    return found


def _without_lengths(schema: Schema) -> Schema:
    """OpenAI's strict mode knows no lengths of texts."""
    return {name: value for name, value in schema.items() if name not in ("minLength", "maxLength")}


def _text(description: str, **more: Any) -> Schema:
    return {"type": "string", "description": description, **more}


def _number(description: str, low: int, high: int) -> Schema:
    return {"type": "integer", "description": description, "minimum": low, "maximum": high}


def _texts(description: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": description}


_KB = {"kb": _texts("Names of knowledge bases to look into; left out: all of them.")}
_NOTES = {"notes": {"type": "boolean", "description": "Whether the notes are looked into as well."}}
_DOC = {"doc": _text("Path of the document as cited, the end of it, or its title.", minLength=1)}
_NOTE_ID = {"note_id": _text("Id of the note, the beginning of one, or its path.", minLength=1)}
_TYPE = {"note_type": _text("task_state, conclusion, blocker, action, reference or general.")}
_FILTERS = {
    **_TYPE,
    "tags": _texts("Only notes with all of these tags."),
    "since": _text("Only notes changed since: a date, or such as '7 days'."),
    "until": _text("Only notes changed until: a date, or such as '7 days'."),
}

TOOLS: tuple[Tool, ...] = (
    Tool(
        "search",
        "Search the documents",
        "Find passages in the indexed documents of this workspace, best first, in Chinese and English. Use it before "
        "you say anything about what these documents hold; write the query in the words that the documents would use. "
        "Each hit has a quote, its place (document, section, page or lines) and an id for `fetch`. An empty list means "
        "that no word of the query occurs in the documents: try other words, then say that nothing was found.",
        {
            "query": _text("What to look for, in words that the documents would use.", minLength=1),
            "limit": _number("Hits at most; 8 if left out.", 1, 50),
            "section": _text("Only this section number and those below it, as 6.3."),
            "doc": _text("Only documents whose path fits this pattern, as docs/*.md."),
            **_KB,
            **_NOTES,
        },
        ("query",),
        "hits",
        act.search,
    ),
    Tool(
        "fetch",
        "Read a hit in full",
        "Read the whole chunk behind a hit of `search` (or behind a citation, by its chunk_id). Use it when a quote is "
        "not enough. An unknown id is an error: search again, ids change when a document changes.",
        {"id": _text("The id of a hit, or the chunk_id of a citation.", minLength=1)},
        ("id",),
        "chunk",
        act.fetch,
    ),
    Tool(
        "ask",
        "Answer a question with citations, or decline",
        "Answer a question from the documents by verbatim excerpts with citations. Use it for questions of fact. "
        "`declined: true` means that the documents do not say, and is a result, not an error: tell the user so, or "
        "look at the `nearest` places with `get`; do not answer from memory instead. Keep the [n], name the sources.",
        {
            "question": _text("One question, in Chinese or English.", minLength=1),
            "threshold": {
                "type": "number", "minimum": 0, "maximum": 1,
                "description": "Decline below this score; leave it out for the fitted value.",
            },
            **_KB,
            **_NOTES,
        },
        ("question",),
        "answer",
        act.ask,
    ),
    Tool(
        "get",
        "Read a document",
        "Read an indexed document, or a section, a page or some lines of it. Use it to see what stands around a hit or "
        "citation. `truncated: true` means that there is more: ask for a narrower part, or for more characters.",
        {
            **_DOC,
            "section": _text("Only this section number, or this heading, with what is below it."),
            "page": _number("Only this page, from 1.", 1, 1_000_000),
            "line_start": _number("First line, from 1; text formats only.", 1, 100_000_000),
            "line_end": _number("Last line.", 1, 100_000_000),
            "limit": _number("Characters at most; 8000 if left out.", 100, 200_000),
            **_KB,
        },
        ("doc",),
        "document",
        act.get,
    ),
    Tool(
        "outline",
        "List the sections of a document",
        "List the sections of an indexed document with their numbers, pages and lines. Use it to find out where to "
        "look in a long document. An empty list means that the document has no headings.",
        {**_DOC, **_KB},
        ("doc",),
        "outline",
        act.outline,
    ),
    Tool(
        "status",
        "Show what there is",
        "Show the knowledge bases of this workspace with their sizes and the number of notes. Use it first when you do "
        "not know what there is to search. No knowledge base means that nothing has been indexed yet.",
        {},
        (),
        "status",
        act.status,
    ),
    Tool(
        "note_search",
        "Search the notes",
        "Find notes of the user by words, best first, with a snippet. Use it for what was decided, tried or planned "
        "before. An empty list means that no note has any of the words.",
        {
            "query": _text("Words to look for.", minLength=1),
            "limit": _number("Notes at most; 10 if left out.", 1, 100),
            **_FILTERS,
        },
        ("query",),
        "notes",
        act.note("search"),
    ),
    Tool(
        "note_list",
        "List notes",
        "List notes, last changed first, without their content. Use it for open blockers and actions (note_type) or "
        "for what is new (since). An empty list means that no note fits.",
        {"limit": _number("Notes at most; 100 if left out.", 1, 1_000), **_FILTERS},
        (),
        "notes",
        act.note("list"),
    ),
    Tool(
        "note_read",
        "Read a note",
        "Read a note with its content. Use it after `note_search` or `note_list`.",
        _NOTE_ID,
        ("note_id",),
        "note",
        act.note("read"),
    ),
    Tool(
        "facts",
        "List facts",
        "List the facts that were kept for this work: values with the source that each comes from. Use them instead of "
        "working a value out again. An empty list means that none is kept.",
        {"prefix": _text("Only facts whose key begins so.")},
        (),
        "facts",
        act.facts,
    ),
    Tool(
        "context",
        "Gather what bears on a task",
        "Gather facts, open blockers and actions, notes and passages of documents that bear on a task, as one text "
        "within a budget of tokens. Use it at the beginning of a task. `citations` say where each numbered piece comes "
        "from; none means that no document bears on it.",
        {
            "query": _text("The task or question.", minLength=1),
            "budget": _number("Tokens at most.", 100, 200_000),
            "session": _text("The session that goes on."),
            "facts": {"type": "boolean", "description": "Whether facts are taken in; true if left out."},
            **_KB,
            **_NOTES,
        },
        ("query",),
        "context",
        act.context,
    ),
    Tool(
        "note_create",
        "Write a note",
        "Write a new note. Use it only when the user wants something kept. Search first, lest a note is made twice.",
        {
            "title": _text("A short title.", minLength=1),
            "content": _text("Markdown.", maxLength=_MOST_CONTENT),
            **_TYPE,
            "tags": _texts("Tags."),
        },
        ("title",),
        "note",
        act.note("create"),
        writes=True,
    ),
    Tool(
        "note_update",
        "Change a note",
        "Change what is named of a note, and nothing else. `content` replaces the whole content; `append` adds to it.",
        {
            **_NOTE_ID,
            "title": _text("Another title."),
            "content": _text("Markdown that replaces the content.", maxLength=_MOST_CONTENT),
            "append": _text("Markdown that is added at the end.", maxLength=_MOST_CONTENT),
            **_TYPE,
            "add_tags": _texts("Tags to add."),
            "remove_tags": _texts("Tags to take away."),
        },
        ("note_id",),
        "note",
        act.note("update"),
        writes=True,
        destructive=True,
    ),
    Tool(
        "note_delete",
        "Delete a note",
        "Move a note to the trash, from where the user can bring it back. Never by title. Ask the user first.",
        _NOTE_ID,
        ("note_id",),
        "note-deletion",
        act.note("delete"),
        writes=True,
        destructive=True,
    ),
    Tool(
        "fact_set",
        "Keep a fact",
        "Keep a value under a key with the source it comes from. A changed value is reported in `previous` and its "
        "history kept: check which one is right.",
        {
            "key": _text("The key, such as adsl.n_rows.", minLength=1),
            "value": {"type": ["string", "number", "boolean"], "description": "The value: JSON, or else a text."},
            "source": _text("Where the value comes from.", minLength=1),
            "step": _number("The step of the work at which it was found.", 0, 1_000_000),
        },
        ("key", "value", "source"),
        "fact",
        act.fact_set,
        writes=True,
    ),
    Tool(
        "reindex",
        "Bring a knowledge base up to date",
        "Index what has changed in the folders of a knowledge base. Use it when citations are marked `stale`, or after "
        "you have changed documents.",
        {"name": _text("The knowledge base; left out: the default one.")},
        (),
        "index-report",
        act.reindex,
        writes=True,
    ),
)  # fmt: skip
_BY_NAME = {tool.name: tool for tool in TOOLS}


class Toolbox:
    """The tools of one workspace; those that write only where that is allowed. Each call sees the files as they are."""

    def __init__(self, directory: Path | None = None, *, allow_write: bool = False) -> None:
        self._directory = directory
        self.tools = tuple(tool for tool in TOOLS if allow_write or not tool.writes)

    def call(self, name: str, arguments: object) -> dict[str, Any]:
        """Run a tool and return its document. CtxError where that is not possible."""
        tool = next((one for one in self.tools if one.name == name), None)
        if tool is None:
            raise self._unknown(name)
        given = checked(name, tool.properties, tool.required, arguments)
        return tool.run(act.find(self._directory), given)

    def outcome(self, name: str, arguments: object) -> tuple[dict[str, Any], bool]:
        """The document of a call, and whether it is an error, which agents are told and may mend.

        Nothing that goes wrong in a tool ends a conversation.
        """
        try:
            return self.call(name, arguments), False
        except CtxError as error:
            return error_document(error.code, error.message, error.hint), True
        except Exception as error:
            return error_document("bug", f"{type(error).__name__}: {error}", "a bug in ctx; call another tool"), True

    def _unknown(self, name: str) -> NotFoundError:
        if name in _BY_NAME:
            hint = "the user has to start ctx with --allow-write"
            return NotFoundError(f"the tool {name} writes, which is not allowed", code="not_allowed", hint=hint)
        from difflib import get_close_matches

        name = name[:60]
        names = [tool.name for tool in self.tools]
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names)}"
        return NotFoundError(f"there is no tool {name!r}", code="unknown_tool", hint=hint)


def exported(form: Form, tools: tuple[Tool, ...] = TOOLS) -> list[dict[str, Any]]:
    """The tools as an API takes them."""
    if form == "openai":
        return [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.strict_parameters,
                    "strict": True,
                },
            }
            for tool in tools
        ]
    if form == "anthropic":
        return [{"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in tools]
    return [mcp_form(tool) for tool in tools]


def mcp_form(tool: Tool) -> dict[str, Any]:
    """A tool as the Model Context Protocol lists it."""
    from ctxcli.services.schemas import schema

    returned = {key: value for key, value in schema(tool.returns).items() if key != "$id"}
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.parameters,
        "outputSchema": returned,
        "annotations": {
            "title": tool.title,
            "readOnlyHint": not tool.writes,
            "destructiveHint": tool.destructive,
            "idempotentHint": not tool.writes,
            "openWorldHint": False,
        },
    }
