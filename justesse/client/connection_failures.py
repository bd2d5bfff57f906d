"""What gRPC says of a connection that failed, reduced to what helps."""

import re

_CAUSES = (
    (
        r"http1|http/1|unexpected_frame|non-grpc|http2 settings|missing http2|settings timeout",
        "what answers there is no gRPC server; an HTTP port was given, perhaps",
    ),
    (r"connection refused", "nothing listens there"),
    (r"dns|name or service|resolve|name resolution|c-ares|lookup", "the host name is not known"),
    (r"no route|unreachable", "the network has no way there"),
    (r"handshake|ssl|tls|certificate", "no secure connection came about"),
    (r"timed out|timeout|deadline", "the host does not answer"),
    (r"reset|closed|goaway|broken pipe|shutdown", "the connection broke off"),
    (r"permission denied", "this process may not connect there"),
)


def cause_of(details: str | None) -> str:
    """Returns the cause in plain words; empty where the text names none that is known."""
    text = (details or "").lower()
    return next((words for pattern, words in _CAUSES if re.search(pattern, text)), "")
