"""Puts a mesh together: which processes, on which ports, over which folders."""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from justesse.cli.local_mesh.claim_secret import make_claim_secret
from justesse.cli.local_mesh.readiness import wait_until_ready
from justesse.cli.local_mesh.service_process import ServiceProcess
from justesse.cli.local_mesh.services import START_ORDER, STOP_ORDER, Layout, environment_of
from justesse.cli.local_mesh.supervisor import Member, MeshEvent, Supervisor


def mesh_supervisor(
    layout: Layout,
    data_folder: Path,
    log_folder: Path,
    environment: Mapping[str, str],
    report: Callable[[MeshEvent], None],
) -> Supervisor:
    """Builds the supervisor of all six processes; makes the folder of the logs, and a secret.

    `data_folder` is absolute. What the environment says beyond ports and folders (providers, log
    format, limits) reaches the processes.
    """
    log_folder.mkdir(parents=True, exist_ok=True)
    make_claim_secret(data_folder)
    members = [
        Member(
            ServiceProcess(
                service.name,
                (sys.executable, "-m", service.module),
                environment_of(service, layout, data_folder, environment),
                log_folder / f"{service.name}.log",
            ),
            partial(wait_until_ready, layout[service.name].management_address),
        )
        for service in START_ORDER
    ]
    stop_order = [[service.name for service in group] for group in STOP_ORDER]
    return Supervisor(members, stop_order, report)
