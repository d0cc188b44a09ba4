"""The use case behind `ctx context build`: gather from everywhere, then build within the budget."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxcli.model.context import Context, ContextPacket
from ctxcli.model.errors import NotFoundError, UsageError
from ctxcli.packing.builder import Builder, ContextConfig
from ctxcli.services.workspace import Workspace

if TYPE_CHECKING:
    from ctxcli.model.fact import Fact
    from ctxcli.model.message import Message
    from ctxcli.services.answering import Consideration, Knowledge

EVIDENCE = (6, 30)
"""Chunks of knowledge bases that are considered, at least and at most."""
_BYTES_A_TOKEN = 4
_PLENTY = 1.1
"""How much more than fits into the budget is considered."""
NOTES = 10
"""Notes found by the query that are considered."""
FIRST = 20
"""Open blockers, and open actions, that are considered: the last changed."""
_NEWEST = 4 << 20
"""Bytes of a session that are read, from its end."""


class Sources(NamedTuple):
    """What a context is gathered from: which knowledge bases (None: none, () all), notes, facts, a session."""

    kb: tuple[str, ...] | None = ()
    notes: bool = False
    facts: bool = True
    session: str | None = None


class ContextBuilder:
    """Builds contexts for language models: gather, select, structure, compress.

    >>> builder = ContextBuilder(ContextConfig(budget=200))
    >>> context = builder.build(
    ...     "What is the default pool size?",
    ...     system="Answer in one sentence.",
    ...     packets=[ContextPacket("The default pool size is 10.", "evidence", relevance=0.9, source="docs/pool.md")],
    ... )
    >>> print(context.text)
    [Role & Policies]
    Answer in one sentence.
    <BLANKLINE>
    [Task]
    What is the default pool size?
    <BLANKLINE>
    [Evidence]
    [1] docs/pool.md
    The default pool size is 10.
    <BLANKLINE>
    [Output]
    Answer the task. Cite the evidence by its number, such as [1]. Say so if the evidence does not tell.
    >>> context.tokens <= context.budget
    True

    With a `workspace` (a folder or a `Workspace`) facts, notes, knowledge bases and a session are gathered too, as
    `sources` says. `notices` holds what is to be said beside the context.
    """

    def __init__(
        self,
        config: ContextConfig | None = None,
        *,
        workspace: str | Path | Workspace | None = None,
        sources: Sources | None = None,
    ) -> None:
        self._builder = Builder(config or ContextConfig())
        self._sources = sources or Sources()
        self.notices: list[str] = []
        if isinstance(workspace, str | Path):
            from ctxcli.services import workspace as workspaces

            workspace = workspaces.find(Path(workspace))
        self._workspace = workspace

    @property
    def config(self) -> ContextConfig:
        """The config that it builds under."""
        return self._builder.config

    def build(
        self,
        query: str,
        *,
        system: str = "",
        history: "Iterable[Message | Mapping[str, Any]]" = (),
        packets: Iterable[ContextPacket] = (),
        now: datetime | None = None,
    ) -> Context:
        """Build the context of a query.

        `history` are messages in OpenAI's form, `packets` whatever else there is to say; `now` is the clock that
        recency is measured by. The same inputs give the same text. Raises UsageError where instructions, task and
        output rules alone exceed the budget.
        """
        query = query.strip()
        if not query:
            raise UsageError("the query is empty", hint='name the task: ctx context build "…"')
        now = _with_zone(now or datetime.now().astimezone())
        gathered = [*([ContextPacket(system, "system")] if system.strip() else []), *packets]
        messages = [_message(one) if isinstance(one, Mapping) else one for one in history]
        if self._workspace:
            gathered += self._gather(self._workspace, query)
            messages = [*self._session(self._workspace), *messages]
        return self._builder.build(query, gathered, messages, now=now)

    def _gather(self, workspace: Workspace, query: str) -> list[ContextPacket]:
        sources = self._sources
        found: list[ContextPacket] = []
        if sources.facts:
            found += fact_packets(workspace)
        if sources.notes:
            found += note_packets(workspace, query, self.notices)
        if sources.kb is not None:
            found += evidence_packets(workspace, query, sources.kb, budget=self.config.budget)
        if sources.session:
            found += self._remembered(workspace, sources.session, query)
        return found

    def _session(self, workspace: Workspace) -> "Sequence[Message]":
        """The newest messages of the session."""
        if not self._sources.session:
            return ()
        from ctxcli.services.sessions import Sessions

        sessions = Sessions(workspace)
        messages = sessions.newest(self._sources.session, size=_NEWEST)
        self.notices += sessions.notices
        return messages

    def _remembered(self, workspace: Workspace, name: str, query: str) -> list[ContextPacket]:
        """The summary that stands for the turns in the archive of the session."""
        from ctxcli.services.sessions import Sessions
        from ctxcli.text.question import language_of

        sessions = Sessions(workspace)
        name = sessions.find(name)
        found = sessions.archive_summary(name, language_of(query))
        self.notices += sessions.notices
        return [ContextPacket(one.content, "memory", source=f"session {name}", relevance=1.0) for one in found]


def _message(value: Mapping[str, Any]) -> "Message":
    from ctxcli.parsing.messages import read_message

    return read_message(dict(value))


def _moment(text: str) -> datetime | None:
    """A time that a file holds, None where it is none."""
    try:
        return _with_zone(datetime.fromisoformat(text))
    except ValueError:
        return None


def _with_zone(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.astimezone()


def fact_packets(workspace: Workspace) -> list[ContextPacket]:
    """The facts of a workspace, a line each."""
    path = workspace.folder / "facts.json"
    if not path.exists():
        return []
    from ctxcli.storage import facts as files

    rows = sorted(files.read(path).items())
    held = [entries[-1] for _, entries in rows if not entries[-1].deleted]
    return [ContextPacket(_fact_line(fact), "fact", _moment(fact.at), None, f"fact {fact.key}") for fact in held]


def _fact_line(fact: "Fact") -> str:
    import json

    value = fact.value if isinstance(fact.value, str) else json.dumps(fact.value, ensure_ascii=False)
    origin = fact.source + (f", step {fact.step}" if fact.step is not None else "")
    return f"- {fact.key} = {' '.join(value.split())} ({origin})"


def note_packets(workspace: Workspace, query: str, notices: list[str]) -> list[ContextPacket]:
    """The open blockers and actions, and the notes that the query finds."""
    from ctxcli.services.note_search import read_query, search
    from ctxcli.services.note_summary import is_closed
    from ctxcli.services.notes import Notebook, NoteFilter, ordered

    notebook = Notebook(workspace)
    rows = ordered(notebook.snapshot().rows.values(), "updated")
    wanted: dict[str, str] = {}
    for kind in ("blocker", "action"):
        opened = [row for row in rows if row.type == kind and not is_closed(row)]
        wanted |= {row.id: kind for row in opened[:FIRST]}
    hits = search(notebook, query, NoteFilter(), limit=NOTES).notes if read_query(query) else ()
    for hit in hits:
        wanted.setdefault(hit.fields()["id"], "note")
    by_id = {row.id: row for row in rows}
    found = []
    for note_id, kind in wanted.items():
        note = notebook.note(notebook.load(by_id[note_id]))
        text = f"{note.entry.title}\n{note.content.strip()}".strip()
        found.append(ContextPacket(text, kind, _moment(note.entry.updated_at), None, note.entry.path))
    notices += dict.fromkeys(notebook.notices)
    return found


def evidence_packets(workspace: Workspace, query: str, names: Sequence[str], *, budget: int) -> list[ContextPacket]:
    """The chunks of knowledge bases that bear on the query, cited by their best sentences; [] where there are none."""
    from ctxcli.services.answering import ranked_passages
    from ctxcli.services.asking import open_knowledge, stale_check

    if not names and not workspace.kb_names():
        return []
    knowledge = open_knowledge(workspace, names)
    thought = _considered(knowledge, query, budget=budget)
    is_stale = stale_check(knowledge, workspace.root)
    found = []
    for passage in ranked_passages(knowledge, thought):
        changed = datetime.fromtimestamp(knowledge.record_of(passage).mtime_ns / 1e9).astimezone()
        cited = replace(passage, stale=is_stale(passage))
        found.append(
            ContextPacket(passage.text, "evidence", changed, min(1.0, passage.score), passage.doc, passage=cited)
        )
    return found


def _considered(knowledge: "Knowledge", query: str, *, budget: int) -> "Consideration":
    """The chunks ranked as for an answer; excerpts and score, which a context has no use for, are left out."""
    from ctxcli.services.answering import CANDIDATES, EVERYWHERE, Consideration, consider
    from ctxcli.text.question import read_question

    question = read_question(query, knowledge.analyzer)
    if question.sections:
        return consider(knowledge, query, limit=max(EVIDENCE[0], min(EVIDENCE[1], budget // 250)))
    weights = knowledge.weigh(question, with_related=True)
    chunks = knowledge.ranker.propose(knowledge, question, weights, limit=CANDIDATES, filters=EVERYWHERE)
    ranked = knowledge.ranker.rank(knowledge, question, weights, chunks, limit=EVIDENCE[1])
    left, kept = _PLENTY * budget * _BYTES_A_TOKEN, 0
    for match in ranked:
        if left <= 0 and kept >= EVIDENCE[0]:
            break
        left -= len(match.chunk.text.encode("utf-8", "replace"))
        kept += 1
    return Consideration(question, weights, tuple(ranked[:kept]), (), (), (), False, 0.0)


def read_clock(text: str) -> datetime:
    """The time that ``--now`` names."""
    from ctxcli.parsing.note_times import read_time

    found = read_time(text)
    if found is None:
        raise UsageError(f"--now {text}: no date or time", hint="give one such as 2025-01-31T09:00:00+00:00")
    return found


def read_text(path: str, data: bytes) -> str:
    """The text of a file of instructions; NotFoundError where there is nothing in it."""
    from ctxcli.services.tokens import text_of

    text = text_of(data, path)
    if not text.strip():
        raise NotFoundError(f"{path} is empty", code="empty_file", hint="name a file with text")
    return text
