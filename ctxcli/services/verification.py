"""Check the citations of an answer against the files as they are now."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ctxcli.answering.citations import read_answer
from ctxcli.model.errors import DataError
from ctxcli.model.stored import Place
from ctxcli.model.verification import CheckedCitation, CitedQuote, Verification
from ctxcli.parsing.places import Located, is_within
from ctxcli.services.ingest.messages import TRANSIENT, Failed, Job
from ctxcli.services.ingest.pool import Limits, Pool, command, size_for
from ctxcli.storage import manifest
from ctxcli.storage.files import processors

if TYPE_CHECKING:
    from ctxcli.services.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Shelf:
    """The documents that a citation may name.

    Paths are relative to `root`. An answer may come from a stranger: only what lies in one of `folders` (or is one of
    them) once all links are followed is opened, by processes of their own that `limits` hold for: a document may be
    made to hang or to blow up what reads it.
    """

    root: Path
    folders: tuple[Path, ...]
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def of_folder(cls, folder: Path) -> "Shelf":
        """A folder that is no workspace."""
        return cls(folder, (folder.resolve(),))

    @classmethod
    def of(cls, workspace: "Workspace") -> "Shelf":
        """A workspace, with the notes and the roots of its knowledge bases, wherever they are."""
        from ctxcli.services.workspace import OWN_KBS

        folders = [workspace.root.resolve(), _notes(workspace)]
        for name in (*workspace.kb_names(), *OWN_KBS):
            with suppress(DataError):  # a broken index is no reason not to read the files
                folders += [(workspace.root / root.path).resolve() for root in _roots(workspace, name)]
        return cls(workspace.root, tuple(folders), Limits.of(workspace.settings))

    def open(self, docs: Iterable[str]) -> dict[str, Located | str]:
        """Each document as it is now, or why it is not opened."""
        found: dict[str, Located | str] = {}
        jobs: dict[str, Job] = {}
        for doc in dict.fromkeys(docs):
            job = self._job(doc)
            if isinstance(job, str):
                found[doc] = job
            else:
                jobs[doc] = job
        asked = list(jobs.values())
        size = size_for(asked, processors())
        with Pool(command(self.limits, analyzer="bigrams"), size=size, limits=self.limits) as pool:
            for doc, (_, outcome) in zip(jobs, pool.run(asked), strict=True):
                if isinstance(outcome, Failed):
                    found[doc] = _why_not(outcome)
                elif outcome.document:
                    found[doc] = Located(outcome.document)
        return found

    def _job(self, doc: str) -> Job | str:
        try:
            path = (self.root / doc).resolve()
            if not any(path.is_relative_to(folder) for folder in self.folders):
                return "not opened: the file is outside the workspace and its knowledge bases"
            if not path.exists():
                return "the file is gone"
            if not path.is_file():
                return "this is no file"
            return Job(str(path), path.name, path.stat().st_size, whole=True)
        except OSError as error:
            return f"the file cannot be read: {(error.strerror or str(error)).lower()}"
        except (ValueError, RuntimeError):  # a NUL, half a surrogate, a link to itself
            return "this is no path"


def _why_not(failed: Failed) -> str:
    if failed.code in TRANSIENT:
        return f"the file was not read: {failed.message}"
    return f"the file cannot be read: {failed.message}"


def _notes(workspace: "Workspace") -> Path:
    return (workspace.root / workspace.settings.text("notes.dir")).resolve()


def _roots(workspace: "Workspace", name: str) -> "tuple[manifest.Root, ...]":
    found = manifest.read(workspace.kb_folder(name))
    return found.roots if found else ()


def verify(text: str, shelf: Shelf) -> Verification:
    """Check every citation of an answer (its JSON document, or its text), and each mark in it that has no source."""
    answer = read_answer(text)
    documents = shelf.open(one.doc for one in answer.citations)
    checked = [_check(one, documents[one.doc]) for one in answer.citations]
    return Verification((*checked, *map(_without_source, answer.strays)))


def _without_source(n: int) -> CheckedCitation:
    message = "the answer cites it, and no source with a quote bears this number"
    return CheckedCitation(CitedQuote(n, "", ""), "missing", message=message)


def _check(cited: CitedQuote, document: Located | str) -> CheckedCitation:
    if isinstance(document, str):
        return CheckedCitation(cited, "missing", message=document)
    if not any(map(str.isalnum, cited.quote)):
        return CheckedCitation(cited, "stale", message="the quote holds no word")
    places = document.places(cited.quote)
    if not places:
        return CheckedCitation(cited, "stale", message="the quote is not in the document")
    if any(_is_as_cited(cited, place) for place in places):
        return CheckedCitation(cited, "ok")
    now = min(places, key=lambda place: _distance(cited, place))
    return CheckedCitation(cited, "moved", now=now, message=_lacking(cited, now) or "the quote stands elsewhere")


def _lacking(cited: CitedQuote, now: Place) -> str:
    """What is cited that the document does not have at all, "" if nothing."""
    if cited.page is not None and now.page is None:
        return "the document has no pages"
    if cited.line_start is not None and now.line_start is None:
        return "the document has no lines"
    return ""


def _is_as_cited(cited: CitedQuote, place: Place) -> bool:
    """Whether a place lies within what is cited: its section, its page (or one of the two it is on), its lines."""
    if not _same_section(cited, place):
        return False
    if _lacking(cited, place):
        return False
    if cited.page and place.page and not _meets(cited.page, cited.page_end, place.page, place.page_end):
        return False
    if cited.line_start and place.line_start:
        return _meets(cited.line_start, cited.line_end, place.line_start, place.line_end)
    return True


def _meets(first: int, last: int | None, place: int, place_last: int | None) -> bool:
    """Whether the pages or lines of a place lie within those that are cited, or the other way round."""
    last, place_last = max(first, last or first), place_last or place
    return first <= place <= place_last <= last or place <= first <= last <= place_last


def _same_section(cited: CitedQuote, place: Place) -> bool:
    return all(
        is_within(wanted, number=place.section, heading=place.heading, path=place.heading_path)
        for wanted in (cited.section, cited.heading)
        if wanted
    )


def _distance(cited: CitedQuote, place: Place) -> tuple[int, bool]:
    """How far a place is from where it is cited, in pages or lines, and whether its section is another one."""
    away = 0
    if cited.page is not None and place.page is not None:
        away = abs(cited.page - place.page)
    elif cited.line_start is not None and place.line_start is not None:
        away = abs(cited.line_start - place.line_start)
    return away, not _same_section(cited, place)
