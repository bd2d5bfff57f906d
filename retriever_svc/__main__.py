"""Starts the retriever: `python -m retriever_svc`."""

import os

import chassis.process_environment  # isort: skip  # noqa: F401 - before native libraries load

import sys

from chassis.server import run, serve_until_signalled
from chassis.settings import load_settings
from chassis.tracing.export import span_export
from retriever_svc.service import running_retriever
from retriever_svc.settings import RetrieverSettings

# Seconds after which a thread that analyses texts gives way to one that searches.
_SWITCH_INTERVAL_S = 0.0005


def main() -> None:
    """Serves until SIGTERM or SIGINT."""
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    settings = load_settings(RetrieverSettings)

    async def serve() -> None:
        async with running_retriever(settings) as server:
            await serve_until_signalled(server)

    spans = span_export("retriever", settings, os.environ)
    run(serve, log_format=settings.log_format, log_level=settings.log_level, spans=spans)


if __name__ == "__main__":
    main()
