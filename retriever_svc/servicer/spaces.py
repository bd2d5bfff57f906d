"""Serves SpaceService."""

import grpc.aio

from justesse.retriever.v1 import spaces_pb2, spaces_pb2_grpc
from retriever_svc.engine import RetrievalEngine
from retriever_svc.wire.spaces import (
    awaiting_request_from,
    awaiting_response,
    lease_request_from,
    lease_response,
    put_request_from,
    put_response,
    space_id_from,
    windows_request_from,
)


class SpaceServicer(spaces_pb2_grpc.SpaceServiceServicer):
    """Moves passages between spaces through the engine."""

    def __init__(self, engine: RetrievalEngine) -> None:
        self._engine = engine

    async def LeaseSpace(
        self,
        request: spaces_pb2.LeaseSpaceRequest,
        context: grpc.aio.ServicerContext[
            spaces_pb2.LeaseSpaceRequest, spaces_pb2.LeaseSpaceResponse
        ],
    ) -> spaces_pb2.LeaseSpaceResponse:
        asked = lease_request_from(request)
        lease = await self._engine.lease_space(
            asked.workspace, asked.space_id, asked.holder, asked.duration_s
        )
        return lease_response(lease)

    async def ListPassagesAwaiting(
        self,
        request: spaces_pb2.ListPassagesAwaitingRequest,
        context: grpc.aio.ServicerContext[
            spaces_pb2.ListPassagesAwaitingRequest, spaces_pb2.ListPassagesAwaitingResponse
        ],
    ) -> spaces_pb2.ListPassagesAwaitingResponse:
        asked = awaiting_request_from(request)
        page = await self._engine.list_passages_awaiting(
            asked.workspace,
            asked.space_id,
            windows=asked.windows,
            page_size=asked.page_size,
            after=asked.after,
        )
        return awaiting_response(page)

    async def PutVectors(
        self,
        request: spaces_pb2.PutVectorsRequest,
        context: grpc.aio.ServicerContext[
            spaces_pb2.PutVectorsRequest, spaces_pb2.PutVectorsResponse
        ],
    ) -> spaces_pb2.PutVectorsResponse:
        receipt = await self._engine.put_vectors(put_request_from(request))
        return put_response(receipt)

    async def PutWindows(
        self,
        request: spaces_pb2.PutWindowsRequest,
        context: grpc.aio.ServicerContext[
            spaces_pb2.PutWindowsRequest, spaces_pb2.PutWindowsResponse
        ],
    ) -> spaces_pb2.PutWindowsResponse:
        receipt = await self._engine.put_windows(windows_request_from(request))
        return spaces_pb2.PutWindowsResponse(
            stored_count=receipt.stored_count,
            outdated_count=receipt.outdated_count,
            seq=receipt.seq,
        )

    async def SwitchSpace(
        self,
        request: spaces_pb2.SwitchSpaceRequest,
        context: grpc.aio.ServicerContext[
            spaces_pb2.SwitchSpaceRequest, spaces_pb2.SwitchSpaceResponse
        ],
    ) -> spaces_pb2.SwitchSpaceResponse:
        switch = await self._engine.switch_space(
            request.workspace,
            space_id_from(request.space_id),
            require_complete=request.require_complete,
        )
        return spaces_pb2.SwitchSpaceResponse(
            previous_space_id=switch.previous_space_id,
            spaces_version=switch.spaces_version,
            awaiting_passage_count=switch.awaiting_count,
        )

    async def DropSpace(
        self,
        request: spaces_pb2.DropSpaceRequest,
        context: grpc.aio.ServicerContext[
            spaces_pb2.DropSpaceRequest, spaces_pb2.DropSpaceResponse
        ],
    ) -> spaces_pb2.DropSpaceResponse:
        removal = await self._engine.drop_space(
            request.workspace,
            space_id_from(request.space_id),
            leave_waiting=request.leave_waiting,
        )
        return spaces_pb2.DropSpaceResponse(
            vector_count=removal.vector_count, spaces_version=removal.spaces_version
        )
