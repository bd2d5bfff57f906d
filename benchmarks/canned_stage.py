"""A bare server of one stage that answers at no cost.

`python -m benchmarks.canned_stage STAGE [SECONDS]`: with seconds, it waits that long before.
"""

import asyncio
import sys
from collections.abc import Mapping

import grpc
import grpc.aio
import uvloop

from benchmarks.canned_answers import answers_of


class CannedHandlers(grpc.GenericRpcHandler):
    """Answers each method with its bytes, without a look at the request."""

    def __init__(self, answers: Mapping[str, bytes], seconds: float) -> None:
        self._handlers = {path: _handler(answer, seconds) for path, answer in answers.items()}

    def service(
        self, handler_call_details: grpc.HandlerCallDetails
    ) -> "grpc.RpcMethodHandler[bytes, bytes] | None":
        """Returns the handler of a method that has an answer."""
        return self._handlers.get(handler_call_details.method)


def _handler(answer: bytes, seconds: float) -> "grpc.RpcMethodHandler[bytes, bytes]":
    async def answered(
        _request: bytes, _context: "grpc.aio.ServicerContext[bytes, bytes]"
    ) -> bytes:
        if seconds:
            await asyncio.sleep(seconds)
        return answer

    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(answered)
    return handler


async def serve(stage: str, seconds: float) -> None:
    """Serves until the process is ended; the first line printed is the port."""
    server = grpc.aio.server()
    server.add_generic_rpc_handlers([CannedHandlers(answers_of(stage), seconds)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await server.wait_for_termination()


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 0.0))
