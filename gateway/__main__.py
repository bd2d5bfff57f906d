"""Starts the gateway's query role: `python -m gateway`."""

import os

import chassis.process_environment  # noqa: F401 - read by native libraries when they load
from chassis.server import run, serve_until_signalled
from chassis.settings import load_settings
from chassis.tracing.export import span_export
from gateway.service import running_gateway
from gateway.settings import GatewaySettings


def main() -> None:
    """Serves until SIGTERM or SIGINT."""
    settings = load_settings(GatewaySettings)

    async def serve() -> None:
        async with running_gateway(settings) as gateway:
            await serve_until_signalled(gateway.server)

    spans = span_export("gateway", settings, os.environ)
    run(serve, log_format=settings.log_format, log_level=settings.log_level, spans=spans)


if __name__ == "__main__":
    main()
