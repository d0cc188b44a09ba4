"""Report values as lines and tables for people."""

from collections.abc import Sequence

from ctxcli.cli.screen import Screen, counted, local_time
from ctxcli.model.report import (
    Diagnosis,
    Embedding,
    IndexedFiles,
    IndexPreview,
    IndexReport,
    KnowledgeBase,
    KnowledgeBases,
    Outline,
    Removal,
    ShownChunk,
    WorkspaceStatus,
)


def index_report(report: IndexReport, screen: Screen) -> None:
    """One line with the counts."""
    counts = report.files
    parts = [f"{counts.indexed} indexed", f"{counts.unchanged} unchanged"]
    more = {"moved": counts.moved, "removed": counts.removed, "failed": counts.failed, "skipped": counts.skipped}
    parts += [f"{number} {name}" for name, number in more.items() if number]
    screen.line(f"{report.kb}: {', '.join(parts)}; {counted(report.chunks, 'chunk')}, {report.elapsed_s:.1f} s")
    if vectors := report.embedding:
        screen.line(f"{report.kb}: {vectors.embedded} embedded by {vectors.model}, {vectors.kept} kept")


def index_preview(preview: IndexPreview, screen: Screen) -> None:
    """One line for each file that would be read or removed."""
    kinds = {
        "new": preview.new,
        "changed": preview.changed,
        "again": preview.retried,
        "removed": preview.removed,
    }
    for kind, paths in kinds.items():
        for path in paths:
            screen.line(f"{kind:8}{path}")
    counts = ", ".join(f"{len(paths)} {kind}" for kind, paths in kinds.items() if paths)
    screen.line(f"{preview.kb}: {counts or 'nothing to do'}; {preview.unchanged} unchanged (nothing was done)")


def knowledge_bases(found: KnowledgeBases, screen: Screen) -> None:
    """A table of knowledge bases."""
    if not found.knowledge_bases:
        screen.line("no knowledge base yet; make one with: ctx kb index FOLDER")
        return
    rows = [
        (kb.name, kb.files, kb.failed, kb.chunks, _size(kb.bytes), _roots(kb), kb.error) for kb in found.knowledge_bases
    ]
    columns = ["name", "files", "failed", "chunks", "size", "roots", "error"]
    if not any(kb.error for kb in found.knowledge_bases):
        columns, rows = columns[:-1], [row[:-1] for row in rows]  # type: ignore[misc]
    screen.table(columns, rows)


def knowledge_base(kb: KnowledgeBase, screen: Screen) -> None:
    """A knowledge base, one property a line."""
    formats = ", ".join(f"{number} {name}" for name, number in kb.formats.items())
    for name, value in (
        ("name", kb.name),
        ("roots", _roots(kb)),
        ("files", f"{kb.files}" + (f" ({formats})" if formats else "")),
        ("failed", f"{kb.failed}" + (" (see: ctx kb files --failed)" if kb.failed else "")),
        ("warnings", kb.warnings),
        ("chunks", kb.chunks),
        ("pages", kb.pages),
        ("size", _size(kb.bytes)),
        ("analyzer", kb.analyzer),
        *([("embedding", _embedding(kb.embedding))] if kb.embedding else []),
        ("updated", local_time(kb.updated_at or "") or "never"),
    ):
        screen.line(f"{name:10}{value}", hang=10)


def _embedding(vectors: Embedding) -> str:
    numbers = f"{vectors.model}, {vectors.dimensions} dimensions, {vectors.chunks} chunks"
    return numbers if vectors.current else f"{numbers} (not up to date: ctx kb index)"


def indexed_files(found: IndexedFiles, screen: Screen) -> None:
    """A table of files; where all failed, with the reasons."""
    if all(one.status == "failed" for one in found.files):
        for one in found.files:
            screen.line(f"{one.path}: {one.message} [{one.code}]")
        return
    rows = [
        (one.path, one.format or one.code, one.pages, one.chunks, _size(one.size), one.title or one.message)
        for one in found.files
    ]
    columns = ["path", "format", "pages", "chunks", "size", "title"]
    screen.table(columns, rows, cut="title", spare=("title", "pages", "size"))


def chunk(shown: ShownChunk, screen: Screen) -> None:
    """Where a chunk stands, then its text."""
    place = [shown.doc, *shown.heading_path]
    if shown.page:
        place.append(f"p. {shown.page}" + (f"–{shown.page_end}" if shown.page_end not in (None, shown.page) else ""))
    elif shown.line_start:
        place.append(f"lines {shown.line_start}–{shown.line_end}")
    screen.line(" · ".join(place), style="bold")
    screen.line(shown.text.rstrip("\n"))


def outline(found: Outline, screen: Screen) -> None:
    """Headings, indented by their level."""
    screen.line(f"{found.doc} · {found.title}", style="bold")
    top = min((one.level for one in found.sections), default=1)
    for one in found.sections:
        place = f"  p. {one.page}" if one.page else f"  line {one.line}" if one.line else ""
        screen.line(f"{'  ' * (one.level - top)}{one.heading}{place}")


def removal(done: Removal, screen: Screen) -> None:
    """What was taken out."""
    what = f"{done.root} from the knowledge base {done.kb}" if done.root else f"the knowledge base {done.kb}"
    screen.line(f"removed {what} ({counted(done.files, 'file')}); the documents are where they were")


def status(found: WorkspaceStatus, screen: Screen) -> None:
    """The workspace, its notes and its knowledge bases."""
    screen.line(f"workspace {found.workspace}")
    screen.line(f"notes     {found.notes}")
    screen.line(f"facts     {'damaged' if found.facts is None else found.facts}")
    screen.line(f"artifacts {'damaged' if found.artifacts is None else found.artifacts}")
    screen.line(f"sessions  {found.sessions}")
    for problem in found.problems:
        screen.line(f"problem   {problem} (see: ctx doctor)", style="yellow")
    knowledge_bases(KnowledgeBases(found.knowledge_bases), screen)


def diagnosis(found: Diagnosis, screen: Screen) -> None:
    """One line for each check."""
    styles = {"ok": "green", "warning": "yellow", "problem": "red"}
    for check in found.checks:
        hint = f" ({check.hint})" if check.hint else ""
        fixed = " [mended]" if check.fixed else ""
        said = f"{check.status:8} {check.name}: {check.message}{hint}{fixed}"
        screen.line(said, style=styles[check.status], lead=len(check.status), hang=9)


def settings(rows: Sequence[tuple[str, object, str]], screen: Screen) -> None:
    """Settings with value and origin."""
    screen.table(["setting", "value", "from"], rows)


def _roots(kb: KnowledgeBase) -> str:
    return ", ".join(root.path + ("" if root.present else " (missing)") for root in kb.roots)


def _size(count: int) -> str:
    if count < 1 << 20:
        return f"{count / 1024:.1f} KB"
    return f"{count / 2**20:.1f} MB"
