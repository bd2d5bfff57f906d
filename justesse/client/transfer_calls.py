"""The part of the synchronous client that takes workspaces out and in."""

from collections.abc import Iterator
from typing import BinaryIO, cast

import grpc

from justesse.client import transfer_methods as methods
from justesse.client.call_terms import agreed_terms
from justesse.client.destination import Destination
from justesse.client.failed_calls import FailedCall, error_from
from justesse.client.sent_messages import SentMessages
from justesse.client.transfers import (
    ImportedWorkspace,
    import_messages,
    imported_workspace_from,
)
from justesse.gateway.v1.transfers_pb2 import ExportWorkspaceRequest


class TransferCalls:
    """What a client can do with archives of workspaces."""

    _destination: Destination
    _channel: grpc.Channel

    def export_workspace(
        self,
        workspace: str,
        *,
        timeout: float | None = None,
        request_id: str | None = None,
    ) -> Iterator[bytes]:
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
            for response in call:
                yield response.content
        except grpc.RpcError as error:
            raise error_from(cast(FailedCall, error), terms) from error
        finally:
            # Without effect on a call that has ended.
            call.cancel()

    def import_workspace(
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
        messages = SentMessages(import_messages(workspace, archive))
        call = send.future(iter(messages), timeout=terms.timeout, metadata=terms.metadata)
        messages.belong_to(call.cancel)
        try:
            return imported_workspace_from(call.result())
        except (grpc.RpcError, grpc.FutureCancelledError) as error:
            if messages.failure is not None:
                raise messages.failure from None
            raise error_from(cast(FailedCall, error), terms) from error
