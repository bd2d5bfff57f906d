"""Keys, questions and passages stay out of logs and errors, though an endpoint quotes them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from chassis.errors import ServiceError
from chassis.logs import configure_logs
from reranker_svc.bill import Bill
from tests.fakes.captured_log import CapturedLog
from tests.fakes.json_server import RefusedError
from tests.fakes.rerank_endpoints import PASSAGES, QUESTION, model_of, soon
from tests.fakes.vendors.rerank_servers import KEY, CohereServer

ECHO = {"message": f"Bearer {KEY} asked {QUESTION} of {PASSAGES[0].text}"}


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


@pytest.mark.parametrize("status", [302, 400, 401, 413, 429, 500])
async def test_nothing_secret_is_told(status: int, log: CapturedLog) -> None:
    """A redirect is not followed; the breaker tells of itself, not of what was asked."""
    where = {"location": f"http://127.0.0.1:1/{KEY}", "retry-after": "0"}
    server = CohereServer(failures=[RefusedError(status, ECHO, where)] * 99)
    async with model_of(server, "cohere") as model:
        with pytest.raises(ServiceError) as caught:
            await model.order(QUESTION, PASSAGES, soon(), Bill())

    assert KEY in server.headers[0]["authorization"]
    shown = f"{caught.value} {caught.value!r} {caught.value.__cause__} {model._client!r}"
    for text in (shown, json.dumps(log.lines, ensure_ascii=False)):
        assert all(secret not in text for secret in (KEY, QUESTION, PASSAGES[0].text))
