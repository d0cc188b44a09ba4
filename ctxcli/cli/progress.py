"""Progress of an index run, on stderr: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ctxcli.cli.output import is_terminal, notice, visible
from ctxcli.cli.wrapping import columns as width_of

if TYPE_CHECKING:
    from ctxcli.services.ingest.run import Progress, Watcher

_PLAIN_SECONDS = 5.0
_BAR_WIDTH = 20
_LEFT_FREE = 40
"""Columns of a terminal for counts, speed and time, and for the ``^C`` of who interrupts: a full line would break."""


@contextmanager
def index_progress(*, quiet: bool) -> "Iterator[Watcher]":
    """Give a function that shows how far a run is; `quiet` shows nothing."""
    if quiet:
        yield lambda _: None
    elif is_terminal(sys.stderr):
        yield from _bar()
    else:
        yield _lines()


def _lines() -> "Callable[[Progress], None]":
    started = time.monotonic()
    last = started

    def show(progress: "Progress") -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _PLAIN_SECONDS:
            last = now
            rate = progress.done / (now - started)
            what = "files" if progress.unit == "files" else "chunks embedded"
            notice(f"{progress.done} of {progress.total} {what}, {rate:.1f} a second")

    return show


def _end_of(name: str, room: int) -> str:
    """As much of the end of a name as `room` columns of a terminal hold; "" where that says nothing."""
    if width_of(name) <= room:
        return name
    while name and width_of(name) >= room:
        name = name[1:]
    return f"…{name}" if len(name) > 1 else ""


def _bar() -> "Iterator[Watcher]":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars
    from rich.table import Column
    from rich.text import Text

    console = Console(stderr=True, markup=False, emoji=False)
    whole = Column(no_wrap=True)

    class FileColumn(TextColumn):
        """The file that was read last, as it is, without markup; of a long one the end."""

        def render(self, task: object) -> Text:
            name = visible(str(getattr(task, "description", "")))
            return Text(_end_of(name, console.width - _BAR_WIDTH - _LEFT_FREE), style="dim")

    columns = (
        BarColumn(bar_width=_BAR_WIDTH),
        MofNCompleteColumn(table_column=whole),
        TextColumn("{task.fields[rate]}", table_column=whole),
        TimeRemainingColumn(table_column=whole),
        FileColumn("", table_column=whole),
    )
    started = time.monotonic()
    with Bars(*columns, console=console, transient=True) as bars:
        task = bars.add_task("", total=None, rate="")

        def show(progress: "Progress") -> None:
            speed = progress.bytes_done / 2**20 / max(0.001, time.monotonic() - started)
            rate = f"{speed:.1f} MB/s" if progress.unit == "files" else "chunks embedded"
            bars.update(
                task,
                description=progress.path,
                completed=progress.done,
                total=progress.total,
                rate=rate,
            )

        yield show
