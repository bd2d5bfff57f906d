"""`justesse up`: starts a whole mesh on this machine and keeps it running."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from justesse.cli.addresses import ADDRESS_FILE_NAME, DEFAULT_DATA_FOLDER, MeshAddresses
from justesse.cli.local_mesh.announcements import Announcer
from justesse.cli.local_mesh.interruption import InterruptedWorkError
from justesse.cli.local_mesh.session import MeshPlan, run_mesh, start_failure
from justesse.cli.local_mesh.supervisor import StartFailedError
from justesse.cli.options import JsonOption
from justesse.cli.output import plain, remarks, show

HELP = (
    "Start a mesh on this machine; Ctrl-C drains and stops it.\n\n"
    "Six processes run from here: gateway, ingestion, retriever, embedder, reranker and rewriter. "
    "One that dies is started again. What the environment says of them (such as "
    "JUSTESSE_EMBEDDER_PROVIDERS or JUSTESSE_GATEWAY_DATABASE_URL) counts, except for folders and "
    "the addresses by which they call each other."
)


def up(
    data_folder: Annotated[
        Path, typer.Option("--data-folder", help="Folder for everything that is stored.")
    ] = DEFAULT_DATA_FOLDER,
    free_ports: Annotated[
        bool, typer.Option("--free-ports", help="Choose ports that nothing listens on.")
    ] = False,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65_535, help="gRPC port; 50050 by default.")
    ] = None,
    http_port: Annotated[
        int | None,
        typer.Option("--http-port", min=1, max=65_535, help="HTTP port; 8080 by default."),
    ] = None,
    address_file: Annotated[
        Path | None,
        typer.Option(
            "--address-file",
            help="JSON file that says where the mesh listens while it runs; by default "
            f"{ADDRESS_FILE_NAME} in the data folder. Other commands find the mesh by it when it "
            "is named in JUSTESSE_ADDRESS_FILE, or when they run in this folder.",
        ),
    ] = None,
    log_folder: Annotated[
        Path | None,
        typer.Option(
            "--log-folder", help="Folder for one log a process; by default logs in the data folder."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Start a mesh on this machine; Ctrl-C drains and stops it."""
    plan = MeshPlan(
        data_folder=data_folder,
        log_folder=log_folder or data_folder / "logs",
        address_file=address_file or data_folder / ADDRESS_FILE_NAME,
        environment=os.environ,
        free_ports=free_ports,
        port=port,
        http_port=http_port,
    )

    async def serve(addresses: MeshAddresses) -> None:
        show(addresses, as_json, lambda console: draw_addresses(console, addresses))
        sys.stdout.flush()
        await asyncio.Event().wait()

    with Announcer(remarks()) as announcer:
        try:
            run_mesh(plan, serve, announcer.report, announcer.interrupted)
        except InterruptedWorkError:
            return
        except StartFailedError as error:
            announcer.start_failed(error)
            raise start_failure(error, plan.log_folder) from error


def draw_addresses(console: Console, addresses: MeshAddresses) -> None:
    """Says where a mesh listens."""
    for name, value in (
        ("gRPC", addresses.address),
        ("HTTP", addresses.http),
        ("Docs", addresses.docs),
        ("Data", addresses.data_folder),
        ("Logs", addresses.log_folder),
    ):
        console.print(plain(f"{name}  {value}"), soft_wrap=True)
    console.print("Ctrl-C stops the mesh.")
