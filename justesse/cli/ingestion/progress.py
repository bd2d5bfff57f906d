"""Showing how far an ingestion is: a bar on a terminal, a line for each file elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from justesse.cli.ingestion.run import FileOutcome
from justesse.cli.output import plain


@contextmanager
def shown_progress(console: Console, total: int) -> Iterator[Callable[[FileOutcome], None]]:
    """Yields what is to be called with each outcome."""
    if console.is_terminal:
        with _bar(console) as progress:
            task = progress.add_task("", total=total)

            def advance(outcome: FileOutcome) -> None:
                name = plain(outcome.external_id)
                name.truncate(max(console.width - 50, 10), overflow="ellipsis")
                progress.update(task, advance=1, description=name.plain)

            yield advance
        return
    done = 0

    def write_line(outcome: FileOutcome) -> None:
        nonlocal done
        done += 1
        text = f"[{done}/{total}] {outcome.outcome} {outcome.external_id}"
        console.print(
            plain(f"{text}: {outcome.message}" if outcome.failed else text), soft_wrap=True
        )

    yield write_line


def _bar(console: Console) -> Progress:
    return Progress(
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
    )
