"""A small service for tests of `justesse up`: health on its management port, nothing else.

Run as `python -m MODULE` from a package that sets NAME and calls `main`. It prints its settings,
and on SIGTERM adds its name to the file that SMALL_SERVICE_STOPPED names.
"""

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc


def main(name: str) -> None:
    """Serves until SIGTERM; fails at once if SMALL_SERVICE_FAILS names it."""
    if os.environ.get("SMALL_SERVICE_FAILS") == name:
        sys.exit(f"{name}: settings: 1 to correct")
    # Before gRPC starts threads, which inherit the mask.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    servicer = health.HealthServicer()
    servicer.set("readiness", health_pb2.HealthCheckResponse.SERVING)
    server = grpc.server(ThreadPoolExecutor(max_workers=2))
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    server.add_insecure_port(f"127.0.0.1:{os.environ[f'JUSTESSE_{name.upper()}_MANAGEMENT_PORT']}")
    server.start()
    sys.stdout.write(f"{name} serves\n")
    sys.stdout.flush()
    signal.sigwait({signal.SIGTERM})
    with open(os.environ["SMALL_SERVICE_STOPPED"], "a") as stopped:
        stopped.write(f"{name}\n")
    server.stop(grace=None)
