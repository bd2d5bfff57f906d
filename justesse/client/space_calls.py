"""The part of the synchronous client that moves workspaces between spaces."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import cast

import grpc

from justesse.client import methods, requests
from justesse.client.call_terms import agreed_terms
from justesse.client.destination import Destination
from justesse.client.failed_calls import FailedCall, error_from
from justesse.client.requests import CallFor, ResultT
from justesse.client.spaces import (
    DroppedSpace,
    ReembeddingEvent,
    SpaceSwitch,
    SwitchGate,
    reembedding_event_from,
    reembedding_message,
)


class SpaceCalls(ABC):
    """What a client can do with the spaces of workspaces."""

    _destination: Destination
    _channel: grpc.Channel

    def reembed(
        self,
        workspace: str,
        space_id: str = "",
        *,
        dry_run: bool = False,
        keep_preferred: bool = False,
        gate: SwitchGate | None = None,
        timeout: float | None = None,
        request_id: str | None = None,
    ) -> Iterator[ReembeddingEvent]:
        """Embeds a workspace into another space beside the present one, then switches to it.

        `space_id` may also be a provider's name; empty: the first provider that answers. Yields the
        plan, progress after each batch, the verdict of the gate, and the outcome. Leaving off ends
        the work; what was embedded stays, and the same call again goes on from there.
        """
        terms = agreed_terms(self._destination, timeout, request_id)
        method = methods.REEMBED_WORKSPACE
        send = self._channel.unary_stream(
            method.path,
            request_serializer=method.request_type.SerializeToString,
            response_deserializer=method.response_type.FromString,
        )
        message = reembedding_message(workspace, space_id, dry_run, keep_preferred, gate)
        call = send(message, timeout=terms.timeout, metadata=terms.metadata)
        try:
            for response in call:
                event = reembedding_event_from(response)
                if event is not None:
                    yield event
        except grpc.RpcError as error:
            raise error_from(cast(FailedCall, error), terms) from error
        finally:
            # Without effect on a call that has ended.
            call.cancel()

    def switch_space(
        self,
        workspace: str,
        space_id: str,
        *,
        require_complete: bool = False,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> SpaceSwitch:
        """Makes a space that the workspace holds the preferred one: the undo of a switch."""
        call = requests.switch_space(workspace, space_id, require_complete)
        return self._answer(call, timeout, request_id)

    def drop_space(
        self,
        workspace: str,
        space_id: str,
        *,
        leave_waiting: bool = False,
        timeout: float | None = None,
        request_id: str | None = None,
    ) -> DroppedSpace:
        """Deletes the vectors of a space that searches do not need, for good.

        With `leave_waiting` also where the preferred space lacks passages that are in it: they wait
        then, and are found by their words.
        """
        call = requests.drop_space(workspace, space_id, leave_waiting)
        return self._answer(call, timeout, request_id)

    @abstractmethod
    def _answer(
        self, call: CallFor[ResultT], timeout: float | None, request_id: str | None
    ) -> ResultT: ...
