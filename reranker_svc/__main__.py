"""Starts the reranker service: `python -m reranker_svc`."""

import chassis.process_environment  # noqa: F401 - read by native libraries when they load
from chassis.server import ServedService, run, running_server, serve_until_signalled
from chassis.settings import load_settings
from reranker_svc.passage_reranker import PassageReranker
from reranker_svc.servicer import RerankerServicer, served
from reranker_svc.settings import RerankerSettings


def reranker_service(settings: RerankerSettings) -> ServedService:
    """Builds the service that these settings describe."""
    reranker = PassageReranker(similarity_weight=settings.similarity_weight)
    return served(RerankerServicer(reranker, settings.request_limits()))


async def serve(settings: RerankerSettings) -> None:
    """Serves until SIGTERM or SIGINT."""
    async with running_server([reranker_service(settings)], settings) as server:
        await serve_until_signalled(server)


def main() -> None:
    """Reads the settings and runs the process."""
    settings = load_settings(RerankerSettings)
    run(lambda: serve(settings), log_format=settings.log_format, log_level=settings.log_level)


if __name__ == "__main__":
    main()
