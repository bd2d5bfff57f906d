"""The embedder as a process: it starts, answers over a socket and ends when asked to."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import grpc
import pytest

from justesse.embedder.v1 import embedder_pb2 as pb
from justesse.embedder.v1.embedder_pb2_grpc import EmbedderServiceStub

PREFIX = "JUSTESSE_EMBEDDER_"
KEYS = ("MISTRAL_", "VOYAGE_", "OLLAMA_", "OPENAI_")
BARE = {
    name: value for name, value in os.environ.items() if not name.startswith(("JUSTESSE_", *KEYS))
}


@pytest.mark.mesh
def test_the_process_answers_and_ends_on_sigterm(tmp_path: Path) -> None:
    """With the real model: one call over a socket, then SIGTERM gives exit code 0."""
    with subprocess.Popen(
        [sys.executable, "-m", "embedder_svc"],
        env={**BARE, f"{PREFIX}PORT": "0"},
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            address = None
            while address is None:
                line = process.stderr.readline()
                assert line, "the process ended before it served"
                address = re.search(r'"address":"([^"]+)"', line)
            with grpc.insecure_channel(address[1]) as channel:
                stub = EmbedderServiceStub(channel)
                answer = stub.EmbedTexts(pb.EmbedTextsRequest(texts=["Bonjour"]), timeout=60)
            process.send_signal(signal.SIGTERM)
            _, rest = process.communicate(timeout=60)
        finally:
            process.kill()

    assert answer.dimension == 384
    assert process.returncode == 0
    assert "Traceback" not in rest


@pytest.mark.mesh
def test_a_wrong_setting_ends_the_process_with_78() -> None:
    """A misspelt provider is told on standard error before anything starts."""
    ended = subprocess.run(
        [sys.executable, "-m", "embedder_svc"],
        env={**BARE, f"{PREFIX}PROVIDERS": "embeded"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 78
    assert "JUSTESSE_EMBEDDER_PROVIDERS='embeded'" in ended.stderr
