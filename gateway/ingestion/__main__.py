"""Starts the ingestion role: `python -m gateway.ingestion`."""

import os

import chassis.process_environment  # noqa: F401 - before any native library is loaded
from chassis.server import run, serve_until_signalled
from chassis.settings import load_settings
from chassis.tracing.export import span_export
from gateway.ingestion.service import running_ingestion
from gateway.ingestion.settings import IngestionSettings


def main() -> None:
    """Serves until SIGTERM or SIGINT."""
    settings = load_settings(IngestionSettings)

    async def serve() -> None:
        async with running_ingestion(settings) as server:
            await serve_until_signalled(server)

    spans = span_export("ingestion", settings, os.environ)
    run(serve, log_format=settings.log_format, log_level=settings.log_level, spans=spans)


if __name__ == "__main__":
    main()
