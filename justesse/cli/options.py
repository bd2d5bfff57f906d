"""Options that several commands share."""

from typing import Annotated

import typer

AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        envvar="JUSTESSE_ADDRESS",
        show_envvar=True,
        help="Address of the gateway; by default that of the mesh started from this folder, "
        "otherwise 127.0.0.1:50050.",
    ),
]
TimeoutOption = Annotated[
    float,
    typer.Option("--timeout", metavar="SECONDS", min=0.001, help="Time to wait for an answer."),
]
UploadTimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--timeout", metavar="SECONDS", min=0.001, help="Time for each file; no limit by default."
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Write the result as JSON, and nothing else, to stdout.")
]
WorkspaceOption = Annotated[
    str, typer.Option("--workspace", "-w", metavar="SLUG", help="Workspace to work in.")
]
