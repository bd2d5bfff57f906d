"""Spaces of the retriever over gRPC."""

from __future__ import annotations

from collections.abc import Iterable

import grpc
import numpy as np

from gateway.clients.retriever_messages import passage_from
from gateway.clients.service_errors import errors_of
from gateway.clients.upsert_stream import block_message
from gateway.spaces import (
    AwaitingPage,
    AwaitingPassage,
    PassageVectorsPut,
    PassageWindowsPut,
    PutReport,
    SpaceDrop,
    SpaceLease,
    SpaceSwitch,
)
from justesse.retriever.v1 import spaces_pb2, spaces_pb2_grpc


class RetrieverSpaces:
    """Implements the `SpaceStore` port."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._spaces = spaces_pb2_grpc.SpaceServiceStub(channel)

    async def lease_space(
        self,
        workspace: str,
        space_id: str,
        holder: str,
        duration_s: float,
        *,
        timeout: float | None = None,
    ) -> SpaceLease:
        """Asks for, prolongs, or (with 0 seconds) gives back the work on a space."""
        request = spaces_pb2.LeaseSpaceRequest(
            workspace=workspace, space_id=space_id, holder=holder, duration_s=duration_s
        )
        with errors_of("retriever"):
            response = await self._spaces.LeaseSpace(request, timeout=timeout)
        return SpaceLease(response.granted, response.remaining_s)

    async def list_passages_awaiting(
        self,
        workspace: str,
        space_id: str,
        page_size: int = 0,
        page_token: str = "",
        *,
        windows: bool = False,
        timeout: float | None = None,
    ) -> AwaitingPage:
        """Lists passages that a space lacks; `page_size` 0 means 100, at most 500."""
        request = spaces_pb2.ListPassagesAwaitingRequest(
            workspace=workspace,
            space_id=space_id,
            page_size=page_size,
            page_token=page_token,
            windows=windows,
        )
        with errors_of("retriever"):
            response = await self._spaces.ListPassagesAwaiting(request, timeout=timeout)
        return AwaitingPage(
            passages=tuple(
                AwaitingPassage(
                    awaiting.passage_id,
                    passage_from(awaiting.passage),
                    awaiting.document_title,
                    tuple(awaiting.space_ids),
                )
                for awaiting in response.passages
            ),
            next_page_token=response.next_page_token,
            awaiting_passage_count=response.awaiting_passage_count,
            awaiting_token_estimate=response.awaiting_token_estimate,
        )

    async def put_vectors(
        self, workspace: str, put: PassageVectorsPut, *, timeout: float | None = None
    ) -> PutReport:
        """Stores vectors of stored passages in one step; repeating it changes nothing."""
        request = spaces_pb2.PutVectorsRequest(
            workspace=workspace,
            passages=_keys(put.passages),
            vectors=block_message(put.block),
            lease_holder=put.lease_holder,
            left_space_ids=put.left_space_ids,
        )
        with errors_of("retriever"):
            response = await self._spaces.PutVectors(request, timeout=timeout)
        return PutReport(response.stored_count, response.outdated_count)

    async def put_windows(
        self, workspace: str, put: PassageWindowsPut, *, timeout: float | None = None
    ) -> PutReport:
        """Stores windows of stored passages in one step; repeating it changes nothing."""
        rows = put.window_vectors
        request = spaces_pb2.PutWindowsRequest(
            workspace=workspace,
            space_id=put.space_id,
            passages=_keys(put.passages),
            window_counts=put.window_counts,
            dimension=put.dimension,
            window_vectors=b"" if rows is None else np.ascontiguousarray(rows, "<f4").tobytes(),
        )
        with errors_of("retriever"):
            response = await self._spaces.PutWindows(request, timeout=timeout)
        return PutReport(response.stored_count, response.outdated_count)

    async def switch_space(
        self,
        workspace: str,
        space_id: str,
        *,
        require_complete: bool = False,
        timeout: float | None = None,
    ) -> SpaceSwitch:
        """Makes a space the preferred one; NotFound where the workspace does not hold it."""
        request = spaces_pb2.SwitchSpaceRequest(
            workspace=workspace, space_id=space_id, require_complete=require_complete
        )
        with errors_of("retriever"):
            response = await self._spaces.SwitchSpace(request, timeout=timeout)
        return SpaceSwitch(
            response.previous_space_id, response.spaces_version, response.awaiting_passage_count
        )

    async def drop_space(
        self,
        workspace: str,
        space_id: str,
        *,
        leave_waiting: bool = False,
        timeout: float | None = None,
    ) -> SpaceDrop:
        """Deletes the vectors of a resting space; one that is not there is no error."""
        request = spaces_pb2.DropSpaceRequest(
            workspace=workspace, space_id=space_id, leave_waiting=leave_waiting
        )
        with errors_of("retriever"):
            response = await self._spaces.DropSpace(request, timeout=timeout)
        return SpaceDrop(response.vector_count, response.spaces_version)


def _keys(passages: Iterable[AwaitingPassage]) -> list[spaces_pb2.PassageKey]:
    return [
        spaces_pb2.PassageKey(
            passage_id=one.passage_id, embedded_text_hash=one.passage.embedded_text_hash
        )
        for one in passages
    ]
