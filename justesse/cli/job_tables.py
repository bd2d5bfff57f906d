"""How jobs are drawn."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from justesse.cli.output import plain
from justesse.cli.tables import facts, fitting, moment, new_table
from justesse.cli.wording import counted
from justesse.client import Job, JobFile, JobState

_STYLES = {
    JobState.INDEXED: "green",
    JobState.FAILED: "bold red",
    JobState.CANCELLED: "yellow",
    JobState.QUEUED: "dim",
}


def draw_jobs(console: Console, jobs: Sequence[Job], workspace: str) -> None:
    """Draws one row a job."""
    if not jobs:
        console.print(plain(f"The workspace {workspace} has no jobs."))
        return
    table = new_table()
    table.add_column("Job", no_wrap=True)
    table.add_column("State", no_wrap=True)
    table.add_column("Files", justify="right")
    table.add_column("Passages", justify="right")
    table.add_column("Begun", no_wrap=True)
    for job in jobs:
        failed = job.state_counts.get(JobState.FAILED, 0)
        table.add_row(
            plain(job.job_id),
            state_text(job.state),
            f"{job.file_count}, {failed} failed" if failed else str(job.file_count),
            str(job.passage_count),
            # To the minute: an id that is cut in two cannot be copied.
            moment(job.create_time)[:16],
        )
    console.print(fitting(console, table))


def draw_job(console: Console, job: Job) -> None:
    """Draws a job and one row a file."""
    counts = ", ".join(f"{count} {state.value}" for state, count in job.state_counts.items())
    console.print(
        facts(
            (
                ("Job", job.job_id),
                ("Workspace", job.workspace),
                ("State", job.state.value),
                ("Files", f"{job.file_count} ({counts})"),
                ("Passages", str(job.passage_count)),
                ("Begun", moment(job.create_time)),
                ("Ended", moment(job.finish_time) if job.finish_time else ""),
            )
        )
    )
    if not job.files:
        return
    table = new_table()
    table.add_column("State", no_wrap=True)
    table.add_column("Document", overflow="fold", ratio=3)
    table.add_column("Passages", justify="right")
    table.add_column("Remark", overflow="fold", ratio=3)
    for file in job.files:
        table.add_row(
            _file_state(file),
            plain(file.external_id),
            "" if file.result is None else str(file.result.passage_count),
            plain(_remark(file)),
        )
    console.print()
    console.print(fitting(console, table))


def summary(job: Job) -> str:
    """Says in one line how far a job is."""
    ended = sum(count for state, count in job.state_counts.items() if state in _ENDED)
    return f"{ended} of {counted(job.file_count, 'file')}"


_ENDED = (JobState.INDEXED, JobState.FAILED, JobState.CANCELLED)


def state_text(state: JobState) -> Text:
    """Writes a state in its colour."""
    return Text(state.value, style=_STYLES.get(state, ""))


def _file_state(file: JobFile) -> Text:
    if file.result is not None:
        return Text(file.result.outcome.value, style=_STYLES[JobState.INDEXED])
    return state_text(file.state)


def _remark(file: JobFile) -> str:
    parts = [] if file.result is None else list(file.result.warnings)
    if file.failure is not None:
        waits = file.state is JobState.QUEUED
        message = file.failure.message.removeprefix(f"{file.file_name}: ")
        parts.append(f"waits for another attempt: {message}" if waits else message)
    return "; ".join(parts)
