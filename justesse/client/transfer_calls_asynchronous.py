"""The part of the asyncio client that takes workspaces out and in."""

from collections.abc import AsyncIterator
from typing import BinaryIO

import grpc.aio

from justesse.client import transfer_methods as methods
from justesse.client.call_terms import agreed_terms
from justesse.client.destination import Destination
from justesse.client.early_status import EarlyStatus
from justesse.client.failed_calls import error_from
from justesse.client.transfers import (
    ImportedWorkspace,
    import_messages,
    imported_workspace_from,
)
from justesse.client.written_messages import write_messages
from justesse.gateway.v1.transfers_pb2 import ExportWorkspaceRequest


class AsyncTransferCalls:
    """What a client can do with archives of workspaces."""

    _destination: Destination
    _channel: grpc.aio.Channel

    async def export_workspace(
        self,
        workspace: str,
        *,
        timeout: float | None = None,
        request_id: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Yields the parts of an archive of a workspace, which is whole once all have come.

        Read steadily: an export that nobody reads for two minutes is given up.
        """
        terms = agreed_terms(self._destination, timeout, request_id)
        method = methods.EXPORT_WORKSPACE
        send = self._channel.unary_stream(
            method.path,
            request_serializer=method.request_type.SerializeToString,
            response_deserializer=method.response_type.FromString,
        )
        message = ExportWorkspaceRequest(workspace=workspace)
        call = send(message, timeout=terms.timeout, metadata=terms.metadata)
        try:
            async for response in call:
                yield response.content
        except grpc.aio.AioRpcError as error:
            raise error_from(error, terms) from error
        finally:
            # Without effect on a call that has ended.
            call.cancel()

    async def import_workspace(
        self,
        workspace: str,
        archive: BinaryIO,
        *,
        timeout: float | None = None,
        request_id: str | None = None,
    ) -> ImportedWorkspace:
        """Makes a new workspace of an archive that was exported: whole, or not at all.

        Raises OSError for an archive that cannot be read; nothing is there then.
        """
        terms = agreed_terms(self._destination, timeout, request_id)
        method = methods.IMPORT_WORKSPACE
        send = self._channel.stream_unary(
            method.path,
            request_serializer=method.request_type.SerializeToString,
            response_deserializer=method.response_type.FromString,
        )
        call = send(timeout=terms.timeout, metadata=terms.metadata)
        early_status = EarlyStatus(call)
        try:
            await write_messages(call, import_messages(workspace, archive))
            return imported_workspace_from(await call)
        except grpc.aio.AioRpcError as error:
            raise error_from(early_status.failure_or(error), terms) from error
        finally:
            # Without effect on a call that has ended.
            call.cancel()
