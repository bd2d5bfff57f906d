"""Keys, questions and answers stay out of logs and errors, whatever goes wrong."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from chassis.errors import ServiceError
from chassis.logs import configure_logs
from chat_models.chain import ChatChain
from tests.fakes.captured_log import CapturedLog
from tests.fakes.chat_vendor import KEY, QUESTION, REQUEST, VENDORS, Vendor, chat_of
from tests.fakes.vendor import Reaction, chunked, disconnect, reply

ECHO = {"error": {"message": f"bad key Bearer {KEY} for {QUESTION}"}}
MISHAPS = {
    "refused key": reply(ECHO, 401),
    "refused": reply(ECHO, 400),
    "busy": reply(ECHO, 503),
    "limited": reply(ECHO, 429, {"retry-after": "0"}),
    "error": reply(ECHO),
    "no json": reply(raw=f"{KEY} {QUESTION}".encode()),
    "closed": disconnect(),
    "stream": chunked(f"data: {KEY} {QUESTION}\n\n".encode()),
}


@pytest.fixture
def log() -> Iterator[CapturedLog]:
    """Keeps everything that is logged, down to debug and from all libraries."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    captured = CapturedLog()
    configure_logs("json", "debug", captured.stream)
    yield captured
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda each: each.name)
@pytest.mark.parametrize("reaction", MISHAPS.values(), ids=MISHAPS.keys())
async def test_nothing_secret_is_told(vendor: Vendor, reaction: Reaction, log: CapturedLog) -> None:
    """Though the vendor quotes all of it."""
    told = []
    async with chat_of(vendor, reaction) as (server, chat):
        chain = ChatChain([chat])
        with pytest.raises(ServiceError) as caught:
            await chain.complete(REQUEST)
        told.append(caught.value)
        with pytest.raises(ServiceError) as caught:
            async with chain.stream(REQUEST):
                raise AssertionError("the stream began")
        told.append(caught.value)
        assert KEY in server.received[0].headers["authorization"]
        shown = f"{chat!r} {chain!r} {told} {told!r} {[each.__cause__ for each in told]}"

    assert log.named("chat model failed")
    for text in (shown, json.dumps(log.lines, ensure_ascii=False)):
        assert KEY not in text
        assert QUESTION not in text
