"""How far an evaluation is: a bar on a terminal, a line at the end of each part elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def shown_part(console: Console, title: str, total: int) -> Iterator[Callable[[object], None]]:
    """Yields what is to be called for each thing that is done."""
    if not console.is_terminal:
        yield lambda _: None
        console.print(f"{title}: {total}")
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(title, total=total)
        yield lambda _: progress.advance(task)
