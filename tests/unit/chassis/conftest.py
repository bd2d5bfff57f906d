"""Log capture for the tests of the chassis."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog

from chassis.logs import configure_logs
from tests.fakes.captured_log import CapturedLog


@pytest.fixture
def log() -> Iterator[CapturedLog]:
    """Configures logs as a service does, into memory, and undoes it afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    captured = CapturedLog()
    configure_logs("json", "info", captured.stream)
    yield captured
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
