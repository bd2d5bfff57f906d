"""A bare asynchronous gRPC server that returns what it is sent: the price of one hop.

With ports as arguments it first sends it to the servers there, one after the other: the price of a
chain of hops.
"""

import sys
from collections.abc import Sequence

import grpc
import grpc.aio
import uvloop

METHOD = "/echo.Echo/Echo"


async def serve(inner_ports: Sequence[str]) -> None:
    """Serves until the process is ended; the first line printed is the port."""
    inner: list[grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]] = [
        grpc.aio.insecure_channel(f"127.0.0.1:{port}").unary_unary(METHOD) for port in inner_ports
    ]

    async def echo(request: bytes, _context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        for call in inner:
            await call(request)
        return request

    server = grpc.aio.server()
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(echo)
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler("echo.Echo", {"Echo": handler})]
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await server.wait_for_termination()


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1:]))
