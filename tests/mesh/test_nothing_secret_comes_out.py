"""Secrets that a mesh is given, and texts that it works on, stay where they belong."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest

from gateway.access.api_key import new_api_key
from justesse.gateway.v1 import search_pb2, search_pb2_grpc
from tests.mesh.processes import Mesh, running_mesh

pytestmark = pytest.mark.mesh

WORKSPACE = "secrets"
VENDOR_KEY = "sk-canari-fournisseur-5f1c"
DATABASE_PASSWORD = "canari-base-8d2e"
CLAIM_SECRET = "s" * 64
QUERY = "canari-question-71aa du conteneur"
DOCUMENT = "canari-document-93bb attend au port."


class Indiscreet(BaseHTTPRequestHandler):
    """A vendor that refuses every key, and repeats it in its answer."""

    def do_GET(self) -> None:
        """Refuses."""
        self._refuse()

    def do_POST(self) -> None:
        """Refuses."""
        self.rfile.read(int(self.headers["content-length"]))
        self._refuse()

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps quiet."""

    def _refuse(self) -> None:
        said = f"Incorrect API key provided: {self.headers['authorization']}"
        body = json.dumps({"error": {"message": said, "code": "invalid_api_key"}}).encode()
        self.send_response(401)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def indiscreet_vendor() -> Iterator[str]:
    """Yields its base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Indiscreet)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


def everything_said(mesh: Mesh, key: str) -> Iterator[str]:
    """Yields what callers and operators see of good, bad and refused requests, but for hits."""
    bearer = {"authorization": f"Bearer {key}"}
    search = {"workspace": WORKSPACE, "query": QUERY}
    upload = {"workspace": WORKSPACE}
    with httpx.Client(base_url=mesh.http_url, timeout=60) as http:

        def seen(answer: httpx.Response) -> str:
            return f"{answer.status_code} {answer.headers} {answer.text}"

        made = http.post("/v1/workspaces", json={"slug": WORKSPACE}, headers=bearer)
        assert made.status_code == 201, made.text
        yield seen(made)
        for name, content in (("a.md", DOCUMENT.encode()), ("b.pdf", b"%PDF-1.7 torn")):
            files = {"file": (name, content)}
            yield seen(http.post("/v1/documents", data=upload, files=files, headers=bearer))
        found = http.post("/v1/search", json=search, headers=bearer)
        assert [stage["outcome"] for stage in found.json()["receipt"]["stages"]].count("DEGRADED")
        yield f"{found.headers} {found.json()['receipt']}"
        for headers in ({}, {"authorization": f"Bearer {key[:-4]}xxxx"}):
            yield seen(http.post("/v1/search", json=search, headers=headers))
        yield seen(http.post("/v1/search", content=b"{", headers=bearer))
        for path in ("/v1/switches", "/v1/keys", "/v1/mesh", "/livez", "/readyz", "/openapi.json"):
            yield seen(http.get(path, headers=bearer))
        for process in mesh.processes.values():
            port = process.environment[f"JUSTESSE_{process.name.upper()}_METRICS_PORT"]
            yield seen(httpx.get(f"http://127.0.0.1:{port}/metrics"))
    with grpc.insecure_channel(mesh.gateway_address) as channel:
        stub = search_pb2_grpc.SearchServiceStub(channel)
        request = search_pb2.SearchPassagesRequest(workspace="nulle-part", query=QUERY)
        with pytest.raises(grpc.RpcError) as refused:
            stub.SearchPassages(request, metadata=(("authorization", f"Bearer {key}"),), timeout=30)
        yield str(refused.value)


def test_no_secret_is_seen_by_anybody(tmp_path: Path, soak: bool) -> None:
    """Keys of vendors and callers, passwords and signing secrets are in no answer, header, receipt,
    metric or log, also where a vendor repeats them and a database is lost. At INFO no log or metric
    holds what was asked or stored."""
    key = new_api_key().text
    key_file = tmp_path / "key"
    key_file.write_text(key)
    database = f"postgresql+psycopg://justesse:{DATABASE_PASSWORD}@127.0.0.1:9/justesse"
    for level in ("info", "debug") if soak else ("info",):
        folder = tmp_path / level
        folder.mkdir()
        with indiscreet_vendor() as vendor:
            settings = {
                "JUSTESSE_GATEWAY_BOOTSTRAP_KEY_FILE": str(key_file),
                "JUSTESSE_GATEWAY_DATABASE_URL": database,
                "JUSTESSE_REWRITER_CHAT_MODELS": "openai/tiny",
                "JUSTESSE_REWRITER_CHAT_BASE_URL": vendor,
                "JUSTESSE_REWRITER_CHAT_API_KEY": VENDOR_KEY,
                **{
                    f"JUSTESSE_{name}_LOG_LEVEL": level
                    for name in ("GATEWAY", "INGESTION", "RETRIEVER", "EMBEDDER", "REWRITER")
                },
            }
            with running_mesh(folder, **settings) as mesh:
                said = list(everything_said(mesh, key))
        logs = [file.read_text() for file in folder.glob("*.log")]

        assert len(logs) == 6
        assert all(logs)
        for secret in (key[-43:-4], VENDOR_KEY, DATABASE_PASSWORD, CLAIM_SECRET):
            for text in said + logs:
                assert secret not in text, (level, text[:500])
        if level == "info":
            for text in logs + [each for each in said if "justesse_" in each]:
                assert "canari-question" not in text
                assert "canari-document" not in text
