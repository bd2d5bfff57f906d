"""The gateway as a process that prints its port: `python -m benchmarks.gateway_server`.

It is set by its usual variables, listens on free ports, and logs nowhere.
"""

import chassis.process_environment  # isort: skip  # noqa: F401 - before native libraries load

import os
import sys
from pathlib import Path

import uvloop

from chassis.logs import configure_logs
from chassis.server import serve_until_signalled
from chassis.settings import load_settings
from gateway.service import running_gateway
from gateway.settings import GatewaySettings


async def serve() -> None:
    """Serves until the process is ended."""
    async with running_gateway(load_settings(GatewaySettings)) as gateway:
        sys.stdout.write(gateway.server.address.rpartition(":")[2] + "\n")
        sys.stdout.flush()
        await serve_until_signalled(gateway.server)


if __name__ == "__main__":
    with Path(os.devnull).open("w") as nowhere:
        configure_logs(stream=nowhere)
        uvloop.run(serve())
