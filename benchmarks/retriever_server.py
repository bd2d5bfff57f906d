"""The retriever's search behind a server of one kind: `python -m benchmarks.retriever_server`.

`service` is what the mesh runs: asynchronous on uvloop, with all that surrounds a call. `bare` is
the same without the surroundings, `threads` a synchronous server with eight threads, as bare.
The first line printed is the port.
"""

import chassis.process_environment  # isort: skip  # noqa: F401 - before native libraries load

import asyncio
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import grpc.aio
import uvloop

from chassis.logs import configure_logs
from justesse.retriever.v1 import search_pb2, search_pb2_grpc
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.embedded.published_state import PublishedState
from retriever_svc.service import running_retriever
from retriever_svc.servicer.search import SearchServicer
from retriever_svc.settings import RetrieverSettings
from retriever_svc.wire.search_requests import search_request_from
from retriever_svc.wire.search_responses import search_response

THREADS = 8


async def service(folder: Path) -> None:
    """Serves the whole service."""
    settings = RetrieverSettings(port=0, management_port=0, metrics_port=0, data_folder=folder)
    async with running_retriever(settings) as server:
        _announce(server.address.rpartition(":")[2])
        await asyncio.Event().wait()


async def bare(folder: Path) -> None:
    """Serves the same servicer with nothing around it."""
    server = grpc.aio.server()
    search_pb2_grpc.add_SearchServiceServicer_to_server(SearchServicer(_engine(folder)), server)
    _announce(str(server.add_insecure_port("127.0.0.1:0")))
    await server.start()
    await server.wait_for_termination()


def threads(folder: Path) -> None:
    """Serves with threads that ask the engine's search thread."""
    # The engine is asynchronous outwards; a synchronous server would ask its worker.
    worker = _engine(folder)._worker

    def search(
        request: search_pb2.SearchPassagesRequest, _context: grpc.ServicerContext
    ) -> search_pb2.SearchPassagesResponse:
        asked = search_request_from(request)
        return search_response(worker.submit(PublishedState.search, asked).result())

    handler = grpc.unary_unary_rpc_method_handler(
        search,
        request_deserializer=search_pb2.SearchPassagesRequest.FromString,
        response_serializer=search_pb2.SearchPassagesResponse.SerializeToString,
    )
    server = grpc.server(ThreadPoolExecutor(THREADS))
    name = search_pb2.DESCRIPTOR.services_by_name["SearchService"].full_name
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler(name, {"SearchPassages": handler})]
    )
    _announce(str(server.add_insecure_port("127.0.0.1:0")))
    server.start()
    server.wait_for_termination()


def _engine(folder: Path) -> EmbeddedEngine:
    return EmbeddedEngine(EmbeddedSettings(folder))


def _announce(port: str) -> None:
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()


KINDS: dict[str, Callable[[Path], None]] = {
    "service": lambda folder: uvloop.run(service(folder)),
    "bare": lambda folder: uvloop.run(bare(folder)),
    "threads": threads,
}


if __name__ == "__main__":
    with Path(os.devnull).open("w") as nowhere:
        configure_logs(stream=nowhere)
        KINDS[sys.argv[1]](Path(sys.argv[2]))
