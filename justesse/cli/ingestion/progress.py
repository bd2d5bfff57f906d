"""Showing how far an ingestion is: a bar on a terminal, now and then a count elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from justesse.cli.ingestion.run import FileOutcome
from justesse.cli.output import plain
from justesse.cli.wording import counted

COUNT_EVERY_S = 10.0


@contextmanager
def shown_progress(
    console: Console, total: int, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[FileOutcome], None]]:
    """Yields what is to be called with each outcome; the files themselves are listed elsewhere."""
    if console.is_terminal:
        with _bar(console) as progress:
            task = progress.add_task("", total=total)

            def advance(outcome: FileOutcome) -> None:
                name = plain(outcome.external_id)
                name.truncate(max(console.width - 50, 10), overflow="ellipsis")
                progress.update(task, advance=1, description=name.plain)

            yield advance
        return
    done = failed = 0
    told = clock()

    def count(outcome: FileOutcome) -> None:
        nonlocal done, failed, told
        done += 1
        failed += outcome.failed
        if clock() - told >= COUNT_EVERY_S and done < total:
            told = clock()
            failures = f", {failed} failed" if failed else ""
            console.print(f"{done} of {counted(total, 'file')}{failures}", soft_wrap=True)

    yield count


def _bar(console: Console) -> Progress:
    return Progress(
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
    )
