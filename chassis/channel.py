"""Channels to other services, and what every call through them carries.

A channel belongs to the event loop on which it was opened. Calls raise grpc errors; callers turn
them into ServiceErrors with `error_mapping.service_error_from`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import grpc
import grpc.aio
from pydantic import BaseModel, ConfigDict, Field

from chassis.certificates import Certificates, WatchedCertificates
from chassis.metrics import Metrics, process_metrics
from chassis.outgoing_calls import CarryingChannel, Outgoing, stream_interceptors
from chassis.renewed_channel import RenewedChannel

_METHOD = re.compile(r"/?(?P<service>[\w.]+)/(?P<method>\w+)")


class ChannelSettings(BaseModel):
    """How a channel behaves; the defaults fit the servers of this mesh."""

    model_config = ConfigDict(frozen=True)

    max_message_bytes: int = Field(default=16 * 2**20, gt=0, description="bytes, both directions")
    # The server accepts pings every 20 s; see server.py.
    keepalive_time_s: float = Field(default=30.0, ge=20.0, description="seconds, at least 20")
    keepalive_timeout_s: float = Field(default=10.0, gt=0)
    retry_attempts: int = Field(default=3, ge=2, le=5, description="tries in all; gRPC allows 5")
    name_lookup_pause_s: float = Field(
        default=5.0, gt=0, description="seconds between two questions for a name's addresses"
    )
    reconnect_backoff_s: float = Field(
        default=5.0, gt=0, description="longest pause between connects"
    )


def open_channel(
    target: str,
    *,
    idempotent_methods: Sequence[str] = (),
    settings: ChannelSettings | None = None,
    metrics: Metrics | None = None,
    certificates: WatchedCertificates | None = None,
) -> grpc.aio.Channel:
    """Opens a channel; to be called on the running event loop, and closed by the caller.

    `idempotent_methods` (`package.Service/Method`) may be tried again when the other side is
    UNAVAILABLE; no other method ever is. Every call passes on the request id and the time left,
    and is measured. With `certificates` the connection is encrypted, both sides show theirs, and a
    new one is made when they are exchanged.
    """
    settings = settings or ChannelSettings()
    outgoing = Outgoing(metrics or process_metrics(), target)
    options = channel_options(settings, service_config(idempotent_methods, settings))
    interceptors = stream_interceptors(outgoing)
    channel: grpc.aio.Channel
    if certificates is None:
        channel = grpc.aio.insecure_channel(target, options=options, interceptors=interceptors)
    else:

        def made(current: Certificates) -> grpc.aio.Channel:
            credentials = grpc.ssl_channel_credentials(
                current.authorities, current.key, current.chain
            )
            return grpc.aio.secure_channel(
                target, credentials, options=options, interceptors=interceptors
            )

        channel = RenewedChannel(certificates, made)
    return CarryingChannel(channel, outgoing)


def service_config(idempotent_methods: Sequence[str], settings: ChannelSettings) -> str:
    """Returns the gRPC service config as JSON."""
    config: dict[str, Any] = {"loadBalancingConfig": [{"round_robin": {}}]}
    if idempotent_methods:
        config["methodConfig"] = [
            {
                "name": [_method_name(method) for method in idempotent_methods],
                "retryPolicy": {
                    "maxAttempts": settings.retry_attempts,
                    "initialBackoff": "0.1s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 2,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ]
        # Below half of the tokens nothing is tried again: retries must not feed an outage. As many
        # as may be in flight at one server that dies are tried again once.
        config["retryThrottling"] = {"maxTokens": 100, "tokenRatio": 0.1}
    return json.dumps(config)


def _method_name(method: str) -> dict[str, str]:
    match = _METHOD.fullmatch(method)
    if match is None:
        raise ValueError(f"a method is written package.Service/Method, not {method!r}")
    return match.groupdict()


def channel_options(settings: ChannelSettings, config: str) -> list[tuple[str, Any]]:
    """Returns the gRPC channel arguments; `config` is the service config as JSON."""
    return [
        ("grpc.service_config", config),
        ("grpc.max_send_message_length", settings.max_message_bytes),
        ("grpc.max_receive_message_length", settings.max_message_bytes),
        ("grpc.keepalive_time_ms", round(settings.keepalive_time_s * 1000)),
        ("grpc.keepalive_timeout_ms", round(settings.keepalive_timeout_s * 1000)),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.dns_min_time_between_resolutions_ms", round(settings.name_lookup_pause_s * 1000)),
        ("grpc.initial_reconnect_backoff_ms", 200),
        ("grpc.max_reconnect_backoff_ms", round(settings.reconnect_backoff_s * 1000)),
        # Two channels to one target must not share connections, or one closes the other's.
        ("grpc.use_local_subchannel_pool", 1),
        # An HTTP proxy in the environment is meant for the outside, not for the mesh.
        ("grpc.enable_http_proxy", 0),
    ]
