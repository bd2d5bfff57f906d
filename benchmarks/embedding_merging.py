"""What merging single-text requests saves, before a vendor that takes 50 ms for any request.

32 callers embed one text after the other, with merging and with one text a request. The overhead
is that of a provider over its bare HTTP client, one caller, rounds interleaved.
"""

import asyncio
import itertools
import json
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from pydantic import SecretStr

from chassis.circuit_breaker import CircuitBreaker
from chassis.vendor_connection import Connection, Timing
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.hosted.embedding_client import embedding_client
from embedder_svc.hosted.model import HostedModel
from embedder_svc.hosted.provider import HostedProvider
from embedder_svc.providers.openai_compatible import other_model, wire_format

CALLERS = 32
VENDOR_S = 0.05
DIMENSION = 384
MODEL = other_model("bench", DIMENSION)
UNMERGED = replace(MODEL, request_texts=1)

_EMBEDDING = json.dumps([0.1] * DIMENSION)


class Vendor:
    """Answers every request after 50 ms and counts them."""

    def __init__(self) -> None:
        self.url = ""
        self.requests = 0
        self.connections: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one connection until it is closed."""
        connection = asyncio.current_task()
        assert connection is not None
        self.connections.add(connection)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.split("content-length:")[1].split("\r\n")[0])
                texts = json.loads(await reader.readexactly(length))["input"]
                self.requests += 1
                await asyncio.sleep(VENDOR_S)
                items = ",".join(
                    f'{{"index":{at},"embedding":{_EMBEDDING}}}' for at in range(len(texts))
                )
                body = f'{{"data":[{items}]}}'.encode()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


def measure(quick: bool) -> dict[str, float]:
    """Returns vendor calls, medians in milliseconds, and ratios."""
    return asyncio.run(_measure(4 if quick else 30))


async def _measure(rounds: int) -> dict[str, float]:
    vendor = Vendor()
    server = await asyncio.start_server(vendor.serve, "127.0.0.1", 0)
    vendor.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        merged_calls, merged_ms = await _together(vendor, MODEL, rounds)
        single_calls, single_ms = await _together(vendor, UNMERGED, rounds)
        bare_ms, provider_ms = await _alone(vendor, rounds)
    finally:
        server.close()
        await asyncio.gather(*vendor.connections)
    return {
        "vendor calls for each text, unmerged": single_calls,
        "vendor calls for each text, merged": merged_calls,
        "fewer vendor calls, times": single_calls / merged_calls,
        "32 callers unmerged, ms a call": single_ms,
        "32 callers merged, ms a call": merged_ms,
        "1 caller, bare client, ms a call": bare_ms,
        "1 caller, provider, ms a call": provider_ms,
        "overhead of the provider, ms": provider_ms - bare_ms,
        "provider over bare client, ratio": provider_ms / bare_ms,
        "32 callers merged over bare client, ratio": merged_ms / bare_ms,
    }


async def _together(vendor: Vendor, model: HostedModel, rounds: int) -> tuple[float, float]:
    numbers = itertools.count()
    samples: list[float] = []
    async with _provider(vendor, model) as provider:
        before = vendor.requests

        async def caller() -> None:
            for _ in range(rounds):
                samples.append(await _timed(lambda: _embed(provider, next(numbers))))

        await asyncio.gather(*(caller() for _ in range(CALLERS)))
        calls = vendor.requests - before
    return calls / (CALLERS * rounds), statistics.median(samples)


async def _alone(vendor: Vendor, rounds: int) -> tuple[float, float]:
    wire = wire_format(MODEL)
    connection = Connection(vendor.url, SecretStr("none"))
    http = connection.http("bench")
    client = embedding_client(connection, http, CircuitBreaker("bench"), Timing())
    bare: list[float] = []
    through: list[float] = []

    async def ask(number: int) -> object:
        body = wire.body([f"question {number}"], EmbeddingPurpose.QUERY)
        return await client.post_json(wire.path, body)

    async with client, _provider(vendor, MODEL) as provider:
        for number in range(rounds * 2 + 1):
            bare.append(await _timed(partial(ask, number)))
            through.append(await _timed(partial(_embed, provider, number)))
    # The first of each opens its connection.
    return statistics.median(bare[1:]), statistics.median(through[1:])


async def _embed(provider: HostedProvider, number: int) -> object:
    return await provider.embed([f"question {number}"], EmbeddingPurpose.QUERY, None)


async def _timed(call: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await call()
    return (time.perf_counter() - started) * 1e3


@asynccontextmanager
async def _provider(vendor: Vendor, model: HostedModel) -> AsyncIterator[HostedProvider]:
    connection = Connection(vendor.url)
    http = connection.http("bench")
    client = embedding_client(connection, http, CircuitBreaker("bench"), Timing())
    provider = HostedProvider("bench", model, wire_format(model), client, concurrency=CALLERS)
    try:
        yield provider
    finally:
        await provider.close()
