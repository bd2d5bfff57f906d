"""Log lines of the process: one JSON object a line, or coloured text for a terminal.

Lines of the standard `logging` module (grpc, uvicorn, sqlalchemy) take the same road. Local
variables never appear in a traceback, since they hold texts of users and keys.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from functools import cache, partial
from typing import Any, Literal, TextIO

import orjson
import structlog

from chassis.request_id import current_request_id
from chassis.tracing.spans import current_trace_id

LogFormat = Literal["json", "console"]
LogLevel = Literal["debug", "info", "warning", "error"]

# They log addresses and headers of every request, keys included where an address holds one.
_CHATTY = ("httpx", "httpcore", "hpack")


def configure_logs(
    log_format: LogFormat = "json", log_level: LogLevel = "info", stream: TextIO | None = None
) -> None:
    """Sends all log lines to `stream` (standard error if None) in this format."""
    stream = stream if stream is not None else sys.stderr
    shared: list[structlog.typing.Processor] = [
        _with_ids,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # Lines of our own are written without the standard module: every call that is served writes
    # one, and the detour takes longer than the rest of what surrounds a call.
    structlog.configure(
        processors=[*shared, *_rendering(log_format)],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelName(log_level.upper())
        ),
        logger_factory=cache(partial(_NamedLogger, stream)),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder()],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_rendering(log_format),
            ],
        )
    )
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(log_level.upper())
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


def _with_ids(
    _logger: Any, _name: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    request_id = current_request_id()
    if request_id:
        event.setdefault("request_id", request_id)
    trace_id = current_trace_id()
    if trace_id:
        event.setdefault("trace_id", trace_id)
    return event


class _NamedLogger(structlog.WriteLogger):
    """Writes finished lines; the processors put its name into them."""

    def __init__(self, stream: TextIO, name: str = "") -> None:
        super().__init__(stream)
        self.name = name


def flush_logs() -> None:
    """Writes out what the handlers still hold."""
    for handler in logging.getLogger().handlers:
        handler.flush()


def _rendering(log_format: LogFormat) -> list[structlog.typing.Processor]:
    if log_format == "console":
        plain = structlog.dev.plain_traceback
        return [structlog.dev.ConsoleRenderer(exception_formatter=plain)]
    return [structlog.processors.format_exc_info, _as_json]


def _as_json(_logger: Any, _name: str, event: MutableMapping[str, Any]) -> str:
    return orjson.dumps(event, default=repr, option=orjson.OPT_NON_STR_KEYS).decode()
