"""Asks a process of this machine whether it is ready: `python -m chassis.probe PORT`.

For probes that run a command, where there is none that speaks gRPC. PORT is the management port;
exits with 0 if it is ready, else with 1 and a line that says why.
"""

import sys

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from chassis.health import READINESS

TIMEOUT_S = 3.0


def readiness_of(port: int) -> str:
    """Returns "" if the process is ready, else why it is not."""
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest(service=READINESS)
        try:
            answer = stub.Check(request, timeout=TIMEOUT_S)  # type: ignore[attr-defined]
        except grpc.RpcError as error:
            return f"port {port} does not answer: {error.code().name}"
    if answer.status == health_pb2.HealthCheckResponse.SERVING:
        return ""
    return f"port {port} says {health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)}"


def main(arguments: list[str]) -> int:
    """Runs the command; returns its exit code."""
    if len(arguments) != 1 or not arguments[0].isdigit():
        sys.stderr.write("usage: python -m chassis.probe PORT\n")
        return 2
    why = readiness_of(int(arguments[0]))
    if why:
        sys.stderr.write(f"{why}\n")
    return 1 if why else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
