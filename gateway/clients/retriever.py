"""The retriever over gRPC."""

from __future__ import annotations

from pathlib import Path

import grpc

from chassis.signed_claims import SignedClaims
from gateway.clients.claiming_channel import ActionFor, ClaimingChannel
from gateway.clients.retriever_documents import RetrieverDocuments
from gateway.clients.retriever_explanations import RetrieverExplanations
from gateway.clients.retriever_search import RetrieverSearch
from gateway.clients.retriever_spaces import RetrieverSpaces
from gateway.clients.retriever_transfers import RetrieverTransfers
from gateway.clients.retriever_workspaces import RetrieverWorkspaces

_PACKAGE = "justesse.retriever.v1"
IDEMPOTENT_METHODS = (
    f"{_PACKAGE}.SearchService/SearchPassages",
    f"{_PACKAGE}.SearchService/ExplainPassage",
    f"{_PACKAGE}.SearchService/FindDocuments",
    f"{_PACKAGE}.WorkspaceService/ListWorkspaces",
    f"{_PACKAGE}.WorkspaceService/DescribeWorkspace",
    f"{_PACKAGE}.DocumentService/GetDocument",
    f"{_PACKAGE}.DocumentService/ListDocuments",
)
"""Methods that only read, and may be tried again where the retriever is UNAVAILABLE."""


def retriever_over(
    channel: grpc.aio.Channel, claim_secret_file: Path | None, action_for: ActionFor
) -> RetrieverClient:
    """Returns the retriever over a channel, showing claims where there is a secret to sign them.

    Raises StartError where the file holds none.
    """
    if claim_secret_file is not None:
        channel = ClaimingChannel(channel, SignedClaims(claim_secret_file), action_for)
    return RetrieverClient(channel)


class RetrieverClient(
    RetrieverWorkspaces,
    RetrieverDocuments,
    RetrieverSearch,
    RetrieverExplanations,
    RetrieverSpaces,
    RetrieverTransfers,
):
    """Implements the `Retriever` port over one channel."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        RetrieverWorkspaces.__init__(self, channel)
        RetrieverDocuments.__init__(self, channel)
        RetrieverSearch.__init__(self, channel)
        RetrieverExplanations.__init__(self, channel)
        RetrieverSpaces.__init__(self, channel)
        RetrieverTransfers.__init__(self, channel)
