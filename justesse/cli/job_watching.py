"""Watching a job to its end, with a bar on a terminal."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from justesse.cli.job_tables import summary
from justesse.client import Job, JobState, Justesse, UnavailableError
from justesse.client.jobs import FINAL_STATES

PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0)
"""A process of a mesh that died is started again within seconds."""

COUNT_EVERY_S = 10.0


def watched(
    justesse: Justesse,
    workspace: str,
    job_id: str,
    console: Console,
    pause: Callable[[float], None] = time.sleep,
) -> Job:
    """Shows how far a job is until it is finished; returns it with all its files.

    A watch that breaks off is taken up again while the mesh comes back within seconds.
    """
    left = list(PAUSES_S)
    with _shown(console) as report:
        while True:
            try:
                for job in justesse.watch_job(workspace, job_id):
                    left = list(PAUSES_S)
                    report(job)
                return justesse.get_job(workspace, job_id)
            except UnavailableError:
                if not left:
                    raise
                pause(left.pop(0))


@contextmanager
def _shown(console: Console) -> Iterator[Callable[[Job], None]]:
    if console.is_terminal:
        with Progress(
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
        ) as progress:
            task = progress.add_task("", total=None)

            def draw(job: Job) -> None:
                progress.update(
                    task,
                    total=job.file_count,
                    completed=_ended(job),
                    description=job.state.value,
                )

            yield draw
        return
    told = time.monotonic()

    def count(job: Job) -> None:
        nonlocal told
        if time.monotonic() - told >= COUNT_EVERY_S and not job.finished:
            told = time.monotonic()
            console.print(f"{summary(job)}, {job.state.value}", soft_wrap=True)

    yield count


def _ended(job: Job) -> int:
    ended: list[JobState] = [state for state in job.state_counts if state in FINAL_STATES]
    return sum(job.state_counts[state] for state in ended)
