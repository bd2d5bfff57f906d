"""Ten times as many searches as the gateway can answer, where the stages cost it nothing.

The real gateway stands before stages that answer canned bytes, the retriever after 50 ms, and works
on eight searches at a time: fewer than the machine could, since the sender shares it.
"""

from collections.abc import Sequence

import grpc.aio
import uvloop

from benchmarks.flood import Flood
from benchmarks.gateway_hops import SEARCH, cached_request, gateway_before_canned_stages
from benchmarks.interleaving import Figures
from benchmarks.machine import resident_bytes_of
from benchmarks.server_process import ServerProcess

CALLERS = (8, 12)
RETRIEVER_S = 0.05
SETTINGS = {"QUERIES_AT_WORK": "8", "QUERIES_WAITING": "8"}


def measure(quick: bool) -> Figures:
    """Returns what is left of the peak, of latencies and of memory under ten times the peak."""
    with gateway_before_canned_stages(retriever_s=RETRIEVER_S, settings=SETTINGS) as servers:
        return uvloop.run(_measured(servers, 2.0 if quick else 10.0))


async def _measured(servers: Sequence[ServerProcess], seconds: float) -> Figures:
    gateway = servers[0]
    async with grpc.aio.insecure_channel(gateway.address) as channel:
        return await Flood(
            channel.unary_unary(SEARCH),
            cached_request,
            lambda: resident_bytes_of(gateway.process_id),
            CALLERS,
            seconds,
        ).measured()
