"""Starts the rewriter service: `python -m rewriter_svc`."""

import chassis.process_environment  # noqa: F401 - read by native libraries when they load
from chassis.server import ServedService, run, running_server, serve_until_signalled
from chassis.settings import load_settings
from rewriter_svc.query_rewriter import QueryRewriter
from rewriter_svc.servicer import RewriterServicer, served
from rewriter_svc.settings import RewriterSettings
from rewriter_svc.unconfigured import UnconfiguredRewriter


def rewriter_service(settings: RewriterSettings) -> ServedService:
    """Builds the service that these settings describe."""
    rewriter = QueryRewriter(
        UnconfiguredRewriter(), shortest_query_characters=settings.shortest_query_characters
    )
    return served(RewriterServicer(rewriter, settings.request_limits()))


async def serve(settings: RewriterSettings) -> None:
    """Serves until SIGTERM or SIGINT."""
    async with running_server([rewriter_service(settings)], settings) as server:
        await serve_until_signalled(server)


def main() -> None:
    """Reads the settings and runs the process."""
    settings = load_settings(RewriterSettings)
    run(lambda: serve(settings), log_format=settings.log_format, log_level=settings.log_level)


if __name__ == "__main__":
    main()
