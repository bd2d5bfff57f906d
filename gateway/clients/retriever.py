"""The retriever over gRPC."""

from __future__ import annotations

import grpc

from gateway.clients.retriever_documents import RetrieverDocuments
from gateway.clients.retriever_search import RetrieverSearch
from gateway.clients.retriever_workspaces import RetrieverWorkspaces


class RetrieverClient(RetrieverWorkspaces, RetrieverDocuments, RetrieverSearch):
    """Implements the `Retriever` port over one channel."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        RetrieverWorkspaces.__init__(self, channel)
        RetrieverDocuments.__init__(self, channel)
        RetrieverSearch.__init__(self, channel)
