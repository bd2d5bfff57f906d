"""Clients of a retriever process as it runs now."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc.aio

from justesse.retriever.v1 import workspaces_pb2
from tests.fakes.retriever_client import RetrieverClient
from tests.fakes.retriever_process import RetrieverProcess


@asynccontextmanager
async def connected(process: RetrieverProcess) -> AsyncIterator[RetrieverClient]:
    """Opens a channel to the process and closes it."""
    async with grpc.aio.insecure_channel(process.address) as channel:
        yield RetrieverClient(channel)


async def create_workspace(client: RetrieverClient, slug: str = "docs") -> None:
    """Creates a workspace."""
    await client.workspaces.CreateWorkspace(workspaces_pb2.CreateWorkspaceRequest(slug=slug))
