"""One run of a mesh, from the claim on its folder to the last process stopped."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from justesse.cli.addresses import MeshAddresses, write_address_file
from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.cli.local_mesh.composition import mesh_supervisor
from justesse.cli.local_mesh.data_folder import (
    FolderTakenError,
    FolderUnusableError,
    claimed_folder,
    make_folder,
)
from justesse.cli.local_mesh.interruption import until_interrupted
from justesse.cli.local_mesh.ports import PortsTakenError, free_layout, usual_layout
from justesse.cli.local_mesh.services import GATEWAY, HOST, Layout
from justesse.cli.local_mesh.supervisor import MeshEvent, StartFailedError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MeshPlan:
    """Where a mesh is to listen and to keep its data."""

    data_folder: Path
    log_folder: Path
    address_file: Path
    environment: Mapping[str, str]
    """What the processes are told beyond ports and folders."""
    free_ports: bool
    port: int | None = None
    """gRPC port of the gateway; None for the usual or a free one."""
    http_port: int | None = None


def run_mesh(
    plan: MeshPlan,
    work: Callable[[MeshAddresses], Awaitable[T]],
    report: Callable[[MeshEvent], None],
    on_interruption: Callable[[], None],
) -> T:
    """Runs a mesh around `work` and returns its result.

    While `work` runs, every process is ready and the address file is there. A signal ends the work,
    stops the mesh in order and leads to InterruptedWorkError; a second one kills what still runs.
    Raises CommandError where the mesh cannot start, StartFailedError where a process does not.
    """
    try:
        layout = _layout_of(plan)
        with claimed_folder(plan.data_folder) as data_folder:
            make_folder(plan.log_folder, "the folder of the logs")
            make_folder(plan.address_file.parent, "the folder of the address file")
            return asyncio.run(_run(plan, layout, data_folder, work, report, on_interruption))
    except (FolderTakenError, FolderUnusableError, PortsTakenError) as error:
        raise CommandError(str(error)) from error


async def _run(
    plan: MeshPlan,
    layout: Layout,
    data_folder: Path,
    work: Callable[[MeshAddresses], Awaitable[T]],
    report: Callable[[MeshEvent], None],
    on_interruption: Callable[[], None],
) -> T:
    log_folder = plan.log_folder.resolve()
    supervisor = mesh_supervisor(layout, data_folder, log_folder, plan.environment, report)
    addresses = _addresses_of(layout, data_folder, log_folder)
    kills: set[asyncio.Task[None]] = set()

    async def run_and_stop() -> T:
        async with supervisor.running():
            with _address_file(plan.address_file, addresses):
                return await work(addresses)

    return await until_interrupted(
        run_and_stop(), on_interruption, lambda: kills.add(asyncio.create_task(supervisor.kill()))
    )


def _layout_of(plan: MeshPlan) -> Layout:
    try:
        if plan.free_ports:
            return free_layout(plan.port, plan.http_port)
        return usual_layout(plan.environment, plan.port, plan.http_port)
    except ValueError as error:
        raise CommandError(str(error), ExitCode.USAGE) from error


def _addresses_of(layout: Layout, data_folder: Path, log_folder: Path) -> MeshAddresses:
    http = f"http://{HOST}:{layout[GATEWAY.name].http}"
    return MeshAddresses(
        address=layout[GATEWAY.name].address,
        http=http,
        docs=f"{http}/docs",
        data_folder=str(data_folder),
        log_folder=str(log_folder),
        pid=os.getpid(),
        services={
            name: {
                "address": ports.address,
                "management_address": ports.management_address,
                "metrics": f"http://{HOST}:{ports.metrics}/metrics",
            }
            for name, ports in layout.items()
        },
    )


@contextmanager
def _address_file(path: Path, addresses: MeshAddresses) -> Iterator[None]:
    write_address_file(path, addresses)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def start_failure(error: StartFailedError, log_folder: Path) -> CommandError:
    """Turns a process that did not start into the error of the command."""
    log = log_folder / f"{error.service}.log"
    return CommandError(f"{error}; the others are stopped; its log is {log}")
