"""Serving the fake gateway on a socket."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import grpc.aio

from justesse.gateway.v1 import (
    answers_pb2_grpc,
    context_pb2_grpc,
    documents_pb2_grpc,
    explanations_pb2_grpc,
    glossary_pb2_grpc,
    ingestion_pb2_grpc,
    jobs_pb2_grpc,
    keys_pb2_grpc,
    mesh_pb2_grpc,
    search_pb2_grpc,
    spaces_pb2_grpc,
    switches_pb2_grpc,
    transfers_pb2_grpc,
    workspaces_pb2_grpc,
)
from tests.fakes.fake_gateway.answers import FakeAnswers
from tests.fakes.fake_gateway.contexts import FakeContexts
from tests.fakes.fake_gateway.documents import FakeDocuments, FakeIngestion
from tests.fakes.fake_gateway.explanations import FakeExplanations
from tests.fakes.fake_gateway.glossary import FakeGlossary
from tests.fakes.fake_gateway.jobs import FakeJobs
from tests.fakes.fake_gateway.keys import FakeKeys
from tests.fakes.fake_gateway.operation import FakeMesh, FakeSwitches
from tests.fakes.fake_gateway.search import FakeSearch
from tests.fakes.fake_gateway.spaces import FakeSpaces
from tests.fakes.fake_gateway.state import GatewayState
from tests.fakes.fake_gateway.transfers import FakeTransfers
from tests.fakes.fake_gateway.workspaces import FakeWorkspaces


@asynccontextmanager
async def fake_gateway(state: GatewayState) -> AsyncIterator[str]:
    """Serves the fake on a free port of the loopback; yields its address."""
    server = grpc.aio.server()
    answers_pb2_grpc.add_AnswerServiceServicer_to_server(FakeAnswers(state), server)
    workspaces_pb2_grpc.add_WorkspaceServiceServicer_to_server(FakeWorkspaces(state), server)
    documents_pb2_grpc.add_DocumentServiceServicer_to_server(FakeDocuments(state), server)
    ingestion_pb2_grpc.add_IngestionServiceServicer_to_server(FakeIngestion(state), server)
    jobs_pb2_grpc.add_JobServiceServicer_to_server(FakeJobs(state), server)
    explanations_pb2_grpc.add_ExplanationServiceServicer_to_server(FakeExplanations(state), server)
    context_pb2_grpc.add_ContextServiceServicer_to_server(FakeContexts(state), server)
    search_pb2_grpc.add_SearchServiceServicer_to_server(FakeSearch(state), server)
    spaces_pb2_grpc.add_SpaceServiceServicer_to_server(FakeSpaces(state), server)
    switches_pb2_grpc.add_SwitchServiceServicer_to_server(FakeSwitches(state), server)
    transfers_pb2_grpc.add_TransferServiceServicer_to_server(FakeTransfers(state), server)
    glossary_pb2_grpc.add_GlossaryServiceServicer_to_server(FakeGlossary(state), server)
    keys_pb2_grpc.add_KeyServiceServicer_to_server(FakeKeys(state), server)
    mesh_pb2_grpc.add_MeshServiceServicer_to_server(FakeMesh(state), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(grace=None)


@contextmanager
def fake_gateway_in_thread(state: GatewayState) -> Iterator[str]:
    """Serves the fake beside a caller that has no event loop; yields its address."""
    addresses: list[str] = []
    started = threading.Event()
    loop = asyncio.new_event_loop()
    finished = asyncio.Event()

    async def serve() -> None:
        async with fake_gateway(state) as address:
            addresses.append(address)
            started.set()
            await finished.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert started.wait(timeout=10), "the fake gateway did not start"
        yield addresses[0]
    finally:
        loop.call_soon_threadsafe(finished.set)
        thread.join()
        loop.close()
