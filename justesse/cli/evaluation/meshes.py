"""The mesh that is measured: one of the run's own, or one that runs already."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import typer
from rich.console import Console

from justesse.cli.addresses import ADDRESS_FILE_NAME
from justesse.cli.demonstration import demonstration_environment
from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.cli.local_mesh.announcements import Announcer
from justesse.cli.local_mesh.interruption import InterruptedWorkError
from justesse.cli.local_mesh.services import KNOWN_VECTORS_VARIABLE
from justesse.cli.local_mesh.session import MeshPlan, run_mesh
from justesse.cli.local_mesh.supervisor import StartFailedError

_KEPT_S = 90 * 86_400
_KEPT_BYTES = 512 * 2**20


def with_running_mesh(address: str, work: Callable[[str], Awaitable[None]]) -> None:
    """Runs the work with the address of a mesh that runs already."""

    async def run() -> None:
        await work(address)

    asyncio.run(run())


def evaluation_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment of a mesh that is measured; what the caller has set counts.

    Vectors are kept for the next run in the user's cache folder, and an upload waits for its
    windows, so that no question is asked before they are there.
    """
    cache = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return {
        KNOWN_VECTORS_VARIABLE: str(Path(cache) / "justesse" / "evaluation"),
        "JUSTESSE_EMBEDDER_CACHE_TTL_S": str(_KEPT_S),
        "JUSTESSE_EMBEDDER_CACHE_MAX_BYTES": str(_KEPT_BYTES),
        "JUSTESSE_INGESTION_WINDOWS_FIRST": "true",
        **demonstration_environment(environment),
    }


def with_own_mesh(console: Console, folder: Path, work: Callable[[str], Awaitable[None]]) -> None:
    """Runs the work with the address of a mesh on free ports, whose data stays in the folder."""
    plan = MeshPlan(
        data_folder=folder,
        log_folder=folder / "logs",
        address_file=folder / ADDRESS_FILE_NAME,
        environment=evaluation_environment(os.environ),
        free_ports=True,
    )
    console.print(f"Starting a mesh on free ports, in {folder}", style="bold")
    with Announcer(console) as announcer:
        try:
            run_mesh(
                plan,
                lambda addresses: work(addresses.address),
                announcer.report,
                announcer.interrupted,
            )
        except InterruptedWorkError:
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        except StartFailedError as error:
            announcer.start_failed(error)
            raise CommandError(str(error)) from error
