"""Switches to messages of the gateway."""

from __future__ import annotations

from gateway.switches.board import BoardState, SwitchOrigin, SwitchState
from gateway.switches.values import written
from gateway.wire.moments import to_timestamp
from justesse.gateway.v1 import switches_pb2

_ORIGINS = {
    SwitchOrigin.DEFAULT: switches_pb2.SWITCH_ORIGIN_DEFAULT,
    SwitchOrigin.DATABASE: switches_pb2.SWITCH_ORIGIN_DATABASE,
    SwitchOrigin.LAST_GOOD: switches_pb2.SWITCH_ORIGIN_LAST_GOOD,
}


def to_switch(state: SwitchState) -> switches_pb2.Switch:
    """Writes one switch."""
    return switches_pb2.Switch(
        key=state.definition.key,
        value=written(state.value),
        default_value=written(state.definition.default),
        description=state.definition.description,
        origin=_ORIGINS[state.origin],
        error=state.error,
    )


def to_list_response(board: BoardState) -> switches_pb2.ListSwitchesResponse:
    """Writes all switches."""
    return switches_pb2.ListSwitchesResponse(
        switches=map(to_switch, board.switches),
        refresh_time=to_timestamp(board.refresh_time),
        refresh_error=board.refresh_error,
    )


def to_refresh_response(board: BoardState) -> switches_pb2.RefreshSwitchesResponse:
    """Writes all switches after a refresh."""
    return switches_pb2.RefreshSwitchesResponse(
        switches=map(to_switch, board.switches),
        refresh_time=to_timestamp(board.refresh_time),
        refresh_error=board.refresh_error,
    )
