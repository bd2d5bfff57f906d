"""The methods of the gateway that switch features."""

from justesse.client.method import PACKAGE, Method
from justesse.gateway.v1 import switches_pb2

LIST_SWITCHES = Method(
    f"{PACKAGE}.SwitchService",
    "DescribeSwitches",
    switches_pb2.DescribeSwitchesRequest,
    switches_pb2.DescribeSwitchesResponse,
    idempotent=True,
)
SET_SWITCH = Method(
    f"{PACKAGE}.SwitchService",
    "SetSwitch",
    switches_pb2.SetSwitchRequest,
    switches_pb2.SetSwitchResponse,
    idempotent=False,
)
REFRESH_SWITCHES = Method(
    f"{PACKAGE}.SwitchService",
    "RefreshSwitches",
    switches_pb2.RefreshSwitchesRequest,
    switches_pb2.RefreshSwitchesResponse,
    idempotent=False,
)
LIST_SWITCH_OVERRIDES = Method(
    f"{PACKAGE}.SwitchService",
    "ListSwitchOverrides",
    switches_pb2.ListSwitchOverridesRequest,
    switches_pb2.ListSwitchOverridesResponse,
    idempotent=True,
)
SET_SWITCH_OVERRIDE = Method(
    f"{PACKAGE}.SwitchService",
    "SetSwitchOverride",
    switches_pb2.SetSwitchOverrideRequest,
    switches_pb2.SetSwitchOverrideResponse,
    idempotent=False,
)
CLEAR_SWITCH_OVERRIDE = Method(
    f"{PACKAGE}.SwitchService",
    "ClearSwitchOverride",
    switches_pb2.ClearSwitchOverrideRequest,
    switches_pb2.ClearSwitchOverrideResponse,
    idempotent=False,
)
SET_SWITCH_ROLLOUT = Method(
    f"{PACKAGE}.SwitchService",
    "SetSwitchRollout",
    switches_pb2.SetSwitchRolloutRequest,
    switches_pb2.SetSwitchRolloutResponse,
    idempotent=False,
)
CLEAR_SWITCH_ROLLOUT = Method(
    f"{PACKAGE}.SwitchService",
    "ClearSwitchRollout",
    switches_pb2.ClearSwitchRolloutRequest,
    switches_pb2.ClearSwitchRolloutResponse,
    idempotent=False,
)
LIST_SWITCH_CHANGES = Method(
    f"{PACKAGE}.SwitchService",
    "ListSwitchChanges",
    switches_pb2.ListSwitchChangesRequest,
    switches_pb2.ListSwitchChangesResponse,
    idempotent=True,
)
