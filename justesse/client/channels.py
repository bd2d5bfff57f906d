"""How a channel to the gateway is set up: limits, keep-alive and retries."""

import json

from justesse.client.methods import METHODS

DEFAULT_ADDRESS = "127.0.0.1:50050"
MAX_MESSAGE_BYTES = 16 * 1024 * 1024

# A call that only reads may be sent again when a second try can cure the failure. The throttle ends
# that once failures outweigh successes, so that clients do not press a mesh that is down.
_RETRY_POLICY = {
    "maxAttempts": 3,
    "initialBackoff": "0.1s",
    "maxBackoff": "1s",
    "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE"],
}
_RETRY_THROTTLING = {"maxTokens": 100, "tokenRatio": 0.1}


def channel_options() -> list[tuple[str, str | int]]:
    """Lists the channel arguments, equal for the synchronous and the asyncio API."""
    return [
        ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
        ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        # As often new gateways behind a name are found; gRPC itself waits 30 s.
        ("grpc.dns_min_time_between_resolutions_ms", 5_000),
        ("grpc.service_config", service_config()),
    ]


def service_config() -> str:
    """Writes the gRPC service config: all addresses are used, reads are retried."""
    names = [
        {"service": method.service, "method": method.name}
        for method in METHODS
        if method.idempotent
    ]
    return json.dumps(
        {
            "loadBalancingConfig": [{"round_robin": {}}],
            "methodConfig": [{"name": names, "retryPolicy": _RETRY_POLICY}],
            "retryThrottling": _RETRY_THROTTLING,
        }
    )
