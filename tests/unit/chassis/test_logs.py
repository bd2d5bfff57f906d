"""Log lines of the process."""

from __future__ import annotations

import io
import json
import logging

import pytest
import structlog

from chassis.logs import configure_logs, flush_logs
from tests.fakes.captured_log import CapturedLog


def test_each_event_is_one_line_of_json(log: CapturedLog) -> None:
    """Whatever the values hold: line breaks, accents, objects."""
    structlog.get_logger("probe").info("saved", text="deux\nlignes é", thing=object, n={1: 2})
    (raw,) = log.stream.getvalue().splitlines()
    line = json.loads(raw)
    assert (line["event"], line["level"], line["logger"]) == ("saved", "info", "probe")
    assert line["text"] == "deux\nlignes é"
    assert line["timestamp"].endswith("Z")


def test_the_standard_module_takes_the_same_road(log: CapturedLog) -> None:
    """Libraries log beside us, in the same form."""
    logging.getLogger("uvicorn.error").warning("port %d is odd", 7, extra={"port": 7})
    (line,) = log.lines
    assert (line["event"], line["level"], line["logger"]) == (
        "port 7 is odd",
        "warning",
        "uvicorn.error",
    )
    assert line["port"] == 7


def test_a_traceback_has_no_values_of_variables(log: CapturedLog) -> None:
    """Variables hold texts of users and keys."""
    private = "the " + "user's words"

    def fail(text: str) -> None:
        raise ValueError(f"{len(text)} characters")

    try:
        fail(private)
    except ValueError:
        structlog.get_logger("probe").exception("failed")
    (line,) = log.lines
    assert "ValueError: 16 characters" in line["exception"]
    assert private not in log.stream.getvalue()


def test_levels_below_the_chosen_one_are_left_out(log: CapturedLog) -> None:
    """Debug lines need to be asked for."""
    structlog.get_logger("probe").debug("detail")
    assert log.lines == []
    configure_logs("json", "debug", log.stream)
    structlog.get_logger("probe").debug("detail")
    assert [line["event"] for line in log.lines] == ["detail"]


@pytest.mark.parametrize("name", ["httpx", "httpcore.http11"])
def test_the_http_library_stays_silent_even_at_debug(name: str, log: CapturedLog) -> None:
    """It would write addresses and headers of vendors."""
    configure_logs("json", "debug", log.stream)
    logging.getLogger(name).info("HTTP Request: GET https://x/?key=secret")
    assert log.lines == []


def test_the_console_form_is_for_people(log: CapturedLog) -> None:
    """No JSON, same content."""
    stream = io.StringIO()
    configure_logs("console", "info", stream)
    structlog.get_logger("probe").info("saved", count=3)
    assert "saved" in stream.getvalue()
    assert not stream.getvalue().startswith("{")


def test_configuring_twice_does_not_double_the_lines(log: CapturedLog) -> None:
    """The last configuration replaces the one before."""
    configure_logs("json", "info", log.stream)
    structlog.get_logger("probe").info("once")
    flush_logs()
    assert len(log.lines) == 1
