"""`justesse jobs`: lists, shows, watches, cancels and retries jobs."""

from itertools import islice
from typing import Annotated

import typer
from rich.console import Console

from justesse.cli.addresses import gateway_address
from justesse.cli.exit_codes import ExitCode
from justesse.cli.job_tables import draw_job, draw_jobs
from justesse.cli.job_watching import watched
from justesse.cli.options import AddressOption, JsonOption, TimeoutOption, WorkspaceOption
from justesse.cli.output import remarks, show
from justesse.client import Job, JobState, Justesse

app = typer.Typer(help="List, show, watch, cancel and retry jobs.")

JobArgument = Annotated[str, typer.Argument(metavar="JOB_ID", help="Id of the job.")]


@app.command("list")
def list_all(
    workspace: WorkspaceOption,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="Jobs wanted, the newest first.")
    ] = 50,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """List the jobs of a workspace, newest first."""
    with Justesse(gateway_address(address)) as justesse:
        jobs = list(
            islice(
                justesse.iterate_jobs(workspace, page_size=min(limit, 500), timeout=timeout), limit
            )
        )
    show(jobs, as_json, lambda console: draw_jobs(console, jobs, workspace))


@app.command("show")
def show_one(
    job_id: JobArgument,
    workspace: WorkspaceOption,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Show a job with what became of each file."""
    with Justesse(gateway_address(address)) as justesse:
        job = justesse.get_job(workspace, job_id, timeout=timeout)
    show(job, as_json, lambda console: draw_job(console, job))


@app.command()
def watch(
    job_id: JobArgument,
    workspace: WorkspaceOption,
    address: AddressOption = None,
    as_json: JsonOption = False,
) -> None:
    """Watch a job to its end, then show what became of each file (exit code 1 if one failed).

    Leaving with Ctrl-C does the job no harm.
    """
    with Justesse(gateway_address(address)) as justesse:
        job = watched(justesse, workspace, job_id, remarks())
    _show_finished(job, as_json)


@app.command()
def cancel(
    job_id: JobArgument,
    workspace: WorkspaceOption,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Stop a job: what waits at once, what is in work at its next safe point."""
    with Justesse(gateway_address(address)) as justesse:
        job = justesse.cancel_job(workspace, job_id, timeout=timeout)
    show(job, as_json, lambda console: _draw_short(console, job))


@app.command()
def retry(
    job_id: JobArgument,
    workspace: WorkspaceOption,
    address: AddressOption = None,
    timeout: TimeoutOption = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Do the failed and cancelled files of a finished job again, without another upload."""
    with Justesse(gateway_address(address)) as justesse:
        job = justesse.retry_job(workspace, job_id, timeout=timeout)
    show(job, as_json, lambda console: _draw_short(console, job))


def _show_finished(job: Job, as_json: bool) -> None:
    show(job, as_json, lambda console: draw_job(console, job))
    if job.state is not JobState.INDEXED:
        raise typer.Exit(ExitCode.SOME_FAILED)


def _draw_short(console: Console, job: Job) -> None:
    counts = ", ".join(f"{count} {state.value}" for state, count in job.state_counts.items())
    console.print(f"{job.job_id}: {job.state.value} ({counts})", soft_wrap=True)
