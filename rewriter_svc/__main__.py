"""Starts the rewriter service: `python -m rewriter_svc`."""

import os

import chassis.process_environment  # noqa: F401 - read by native libraries when they load
from chassis.server import run, serve_until_signalled
from chassis.settings import load_settings
from chassis.tracing.export import span_export
from rewriter_svc.service import running_rewriter
from rewriter_svc.settings import RewriterSettings


def main() -> None:
    """Serves until SIGTERM or SIGINT."""
    settings = load_settings(RewriterSettings)

    async def serve() -> None:
        async with running_rewriter(settings) as server:
            await serve_until_signalled(server)

    spans = span_export("rewriter", settings, os.environ)
    run(serve, log_format=settings.log_format, log_level=settings.log_level, spans=spans)


if __name__ == "__main__":
    main()
