"""Starts the real processes of a mesh, and stops them in every way a machine can."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

START_TIMEOUT_S = 60
STOP_TIMEOUT_S = 30
MODULES = {
    "rewriter": "rewriter_svc",
    "embedder": "embedder_svc",
    "retriever": "retriever_svc",
    "reranker": "reranker_svc",
    "ingestion": "gateway.ingestion",
    "gateway": "gateway",
}


def free_ports(count: int) -> list[int]:
    """Asks the system for ports nobody listens on; they stay free unless somebody is quick."""
    with contextlib.ExitStack() as sockets:
        opened = [sockets.enter_context(socket.socket()) for _ in range(count)]
        for each in opened:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in opened]


@dataclass
class MeshProcess:
    """One service as a process of its own, on ports that stay the same over restarts."""

    name: str
    environment: dict[str, str]
    log_file: Path
    port: int
    management_port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the process without waiting for it."""
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", MODULES[self.name]],
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def wait_ready(self) -> None:
        """Waits until the process says that it is ready; shows its log when it does not."""
        deadline = time.monotonic() + START_TIMEOUT_S
        with grpc.insecure_channel(f"127.0.0.1:{self.management_port}") as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            while time.monotonic() < deadline and self.running().poll() is None:
                with contextlib.suppress(grpc.RpcError):
                    request = health_pb2.HealthCheckRequest(service="readiness")
                    answer = stub.Check(request, timeout=2)  # type: ignore[attr-defined]
                    if answer.status == health_pb2.HealthCheckResponse.SERVING:
                        return
                time.sleep(0.05)
        raise AssertionError(f"{self.name} did not become ready:\n{self.log_file.read_text()}")

    def running(self) -> subprocess.Popen[bytes]:
        """Returns the process, which must have been started."""
        assert self.process is not None, f"{self.name} was not started"
        return self.process

    def stop(self) -> int:
        """Sends SIGTERM and returns the exit code."""
        self.running().send_signal(signal.SIGTERM)
        return self.running().wait(STOP_TIMEOUT_S)

    def kill(self) -> None:
        """Sends SIGKILL and waits for the end."""
        self.running().kill()
        self.running().wait(STOP_TIMEOUT_S)


@dataclass
class Mesh:
    """The six processes of a mesh in one data folder."""

    folder: Path
    embedding_provider: str = "deterministic"
    settings: dict[str, str] = field(default_factory=dict)
    processes: dict[str, MeshProcess] = field(default_factory=dict)
    http_port: int = 0

    @property
    def gateway_address(self) -> str:
        """Address of the gateway's gRPC port."""
        return f"127.0.0.1:{self.processes['gateway'].port}"

    @property
    def http_url(self) -> str:
        """Root of the gateway's HTTP interface."""
        return f"http://127.0.0.1:{self.http_port}"

    def start(self) -> None:
        """Starts all processes and waits until each is ready."""
        ports = free_ports(len(MODULES) * 3 + 1)
        self.http_port = ports.pop()
        environment = self._environment()
        for name in MODULES:
            port, management_port, metrics_port = (ports.pop() for _ in range(3))
            prefix = f"JUSTESSE_{name.upper()}"
            port = int(environment.get(f"{prefix}_PORT", port))
            environment |= {
                f"{prefix}_PORT": str(port),
                f"{prefix}_MANAGEMENT_PORT": str(management_port),
                f"{prefix}_METRICS_PORT": str(metrics_port),
                f"{prefix}_DRAIN_PAUSE_S": "0",
            }
            if name != "gateway":
                environment.setdefault(
                    f"JUSTESSE_GATEWAY_{name.upper()}_TARGET", f"127.0.0.1:{port}"
                )
                environment[f"JUSTESSE_GATEWAY_{name.upper()}_MANAGEMENT_TARGET"] = (
                    f"127.0.0.1:{management_port}"
                )
            if name in {"embedder", "retriever"}:
                environment[f"JUSTESSE_INGESTION_{name.upper()}_TARGET"] = f"127.0.0.1:{port}"
            log_file = self.folder / f"{name}.log"
            self.processes[name] = MeshProcess(name, environment, log_file, port, management_port)
        for process in self.processes.values():
            process.start()
        for process in self.processes.values():
            process.wait_ready()

    def _environment(self) -> dict[str, str]:
        database = self.folder / "gateway.sqlite"
        configured = ("JUSTESSE_", "MISTRAL_", "VOYAGE_", "OLLAMA_", "OPENAI_")
        secret = self.folder / "claim.secret"
        secret.write_text(f"{'s' * 64}\n")
        claims = {
            f"JUSTESSE_{name}_CLAIM_SECRET_FILE": str(secret)
            for name in ("GATEWAY", "INGESTION", "RETRIEVER")
        }
        return {
            **{key: value for key, value in os.environ.items() if not key.startswith(configured)},
            "JUSTESSE_EMBEDDER_PROVIDERS": self.embedding_provider,
            "JUSTESSE_RETRIEVER_DATA_FOLDER": str(self.folder / "retriever"),
            "JUSTESSE_INGESTION_DATA_FOLDER": str(self.folder / "ingestion"),
            "JUSTESSE_INGESTION_WINDOWS": "always",
            "JUSTESSE_INGESTION_WINDOWS_FIRST": "true",
            # What is left alone, as it has no model, would not be missed.
            "JUSTESSE_REWRITER_PAUSE_WITHOUT_MODEL_S": "0",
            "JUSTESSE_RERANKER_PAUSE_WITHOUT_MODEL_S": "0",
            "JUSTESSE_GATEWAY_HTTP_PORT": str(self.http_port),
            **claims,
            "JUSTESSE_GATEWAY_DATABASE_URL": f"sqlite+aiosqlite:///{database}",
            "JUSTESSE_INGESTION_DATABASE_URL": f"sqlite+aiosqlite:///{database}",
            **self.settings,
        }

    def twin(self, name: str, host: str, **settings: str) -> MeshProcess:
        """Returns one more process of a service, on its port of another address; not started."""
        management_port, metrics_port = free_ports(2)
        prefix = f"JUSTESSE_{name.upper()}"
        like = self.processes[name]
        return MeshProcess(
            name,
            like.environment
            | {
                f"{prefix}_HOST": host,
                f"{prefix}_MANAGEMENT_PORT": str(management_port),
                f"{prefix}_METRICS_PORT": str(metrics_port),
            }
            | settings,
            self.folder / f"{name}-{host}.log",
            like.port,
            management_port,
        )

    def restart(self, name: str) -> None:
        """Starts a stopped or killed process again, on the same ports and data."""
        self.processes[name].start()
        self.processes[name].wait_ready()

    def close(self) -> None:
        """Ends whatever still runs."""
        for process in self.processes.values():
            if process.process is not None and process.process.poll() is None:
                process.kill()


@contextlib.contextmanager
def running_mesh(
    folder: Path, embedding_provider: str = "deterministic", **settings: str
) -> Iterator[Mesh]:
    """Runs a mesh for the time of a `with` block; `settings` are variables of its processes."""
    mesh = Mesh(folder, embedding_provider, settings)
    try:
        mesh.start()
        yield mesh
    finally:
        mesh.close()
