"""Notes as lines and tables for people."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxcli.cli.output import has_colour, one_line, visible
from ctxcli.cli.screen import Screen, counted, local_time
from ctxcli.model.note import Note, NoteEntry, NoteHit, NoteList, NoteSummary

if TYPE_CHECKING:
    from ctxcli.model.note_reports import NoteCheck, NoteLinks, TransferReport

_BARS = "▁▂▃▄▅▆▇█"
_SHOWN = 10
_SKIPPED_SHOWN = 20


def note(found: Note, screen: Screen) -> None:
    """The title, what is known of the note, and its content."""
    entry = found.entry
    screen.line(one_line(entry.title), style="bold")
    tags = " ".join(f"#{tag}" for tag in entry.tags)
    screen.line(
        " · ".join(filter(None, (entry.id, entry.type, tags, local_time(entry.updated_at), entry.path))), style="dim"
    )
    if found.content:
        screen.line()
        for line in found.content.split("\n"):
            screen.line(line)


def notes(found: NoteList, screen: Screen) -> None:
    """One row a note, then how many of all."""
    if not found.total:
        screen.line("no notes")
        return
    rows = [_row(one) for one in found.notes if isinstance(one, NoteEntry)]
    screen.table(("id", "updated", "type", "title", "tags"), rows, cut="title", spare=("tags", "updated", "type"))
    screen.line(f"{len(rows)}/{found.total} notes")


def _row(entry: NoteEntry) -> tuple[str, str, str, str, str]:
    return entry.id, local_time(entry.updated_at), entry.type, entry.title, ", ".join(entry.tags)


def hits(found: NoteList, screen: Screen) -> None:
    """Each hit with its snippet, then how many of all."""
    if not found.total:
        screen.line("no notes found")
        return
    for hit in found.notes:
        if isinstance(hit, NoteHit):
            screen.line(one_line(hit.entry.title), style="bold")
            screen.line(
                f"  {hit.entry.id} · {hit.entry.type} · {local_time(hit.entry.updated_at)} · {hit.entry.path}",
                style="dim",
            )
            if hit.snippet:
                sys.stdout.write(f"  {_marked(hit.snippet)}\n")
    screen.line(f"{len(found.notes)}/{found.total} notes")


def _marked(snippet: str) -> str:
    shown = visible(snippet)
    if not has_colour(sys.stdout):
        return shown
    parts = shown.split("**")
    return "".join(f"\x1b[1;33m{part}\x1b[0m" if at % 2 else part for at, part in enumerate(parts))


def summary(found: NoteSummary, screen: Screen, *, chart: bool) -> None:
    """Counts, the latest notes, what is open; a chart of the weeks on a terminal."""
    screen.line(counted(found.total, "note"), style="bold")
    screen.line("types: " + (", ".join(f"{name} {count}" for name, count in found.types.items()) or "none"))
    tags = [f"{name} {count}" for name, count in list(found.tags.items())[:12]]
    more = len(found.tags) - len(tags)
    screen.line("tags: " + (", ".join(tags) or "none") + (f" and {more} more" if more else ""))
    _section("latest", found.recent, screen)
    _section("open blockers", found.open_blockers, screen, total=found.open_counts[0])
    _section("open actions", found.open_actions, screen, total=found.open_counts[1])
    if chart and any(count for _, count in found.weekly):
        most = max(count for _, count in found.weekly)
        bars = "".join(_BARS[-(-count * 7 // most)] if count else " " for _, count in found.weekly)
        screen.line(f"weekly, {found.weekly[0][0]} to {found.weekly[-1][0]}: {bars} (at most {most})")


def _section(title: str, entries: Sequence[NoteEntry], screen: Screen, *, total: int | None = None) -> None:
    if entries:
        screen.line(f"{title}:" if total is None else f"{title} ({total}):", style="bold")
        for entry in entries[:_SHOWN]:
            screen.line(f"  {entry.id}  {one_line(entry.title)}", hang=4 + len(entry.id))
        if total and total > _SHOWN:
            screen.line(f"  and {total - _SHOWN} more")


def links(found: "NoteLinks", screen: Screen) -> None:
    """Where links lead to, and what leads here; without a note what is broken and the orphans."""
    if found.note:
        for link in found.links:
            where = link.note.path if link.note else "broken" if link.broken else "attachment"
            screen.line(f"→ {link.target}  {where}  (line {link.line})")
        for link in found.backlinks:
            screen.line(f"← {link.source.title}  {link.source.path}:{link.line}")
        if not found.links and not found.backlinks:
            screen.line("no links")
        return
    for link in found.broken:
        screen.line(f"broken  {link.source.path}:{link.line}  {link.target}")
    for entry in found.orphans:
        screen.line(f"orphan  {entry.path}  {entry.title}")
    screen.line(
        f"{counted(len(found.links), 'link')}, {len(found.broken)} broken, {counted(len(found.orphans), 'orphan')}"
    )


def transfer(found: "TransferReport", screen: Screen) -> None:
    """One line for each file that is not simply copied, then the counts."""
    told = [one for one in found.files if one.state != "new" and (one.state != "same" or one.message)]
    skipped = [one for one in told if one.state == "skipped"]
    for one in (*(one for one in told if one.state != "skipped"), *skipped[:_SKIPPED_SHOWN]):
        arrow = f" → {one.target}" if one.target else ""
        screen.line(f"{one.state:9} {one.source}{arrow}" + (f": {one.message}" if one.message else ""))
    if len(skipped) > _SKIPPED_SHOWN:
        screen.line(f"skipped   and {len(skipped) - _SKIPPED_SHOWN} more; all are named with --json")
    counts = [f"{count} {state}" for state, count in found.counts.items() if count]
    done = " (nothing was done)" if found.dry_run else ""
    screen.line(f"{found.action} {found.folder}: {', '.join(counts) or 'no Markdown files'}{done}")


def check(found: "NoteCheck", screen: Screen, *, mends: bool) -> None:
    """One line a problem, with the mend where one is asked for."""
    for one in found.problems:
        kind = "fixed" if one.fixed else "problem" if one.serious else "warning"
        screen.line(f"{one.place}: {kind}: {one.message}")
        if mends and one.mend and not one.fixed:
            for line in one.mend.split("\n"):
                screen.line(f"    {line}")
    open_ = [one for one in found.problems if one.mend and not one.fixed]
    if open_:
        screen.line(
            "to write what is proposed: ctx note check --fix --yes" if mends else "for mends see: ctx note check --fix"
        )
    serious = sum(one.serious and not one.fixed for one in found.problems)
    open_warnings = sum(not one.serious and not one.fixed for one in found.problems)
    screen.line(
        ", ".join((counted(found.notes, "note"), counted(serious, "problem"), counted(open_warnings, "warning")))
    )
