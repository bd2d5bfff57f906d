"""Calls the gateway as a program of somebody else would: with the contracts and nothing else."""

import time
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Self
from uuid import uuid4

import grpc

from justesse.gateway.v1 import (
    documents_pb2,
    documents_pb2_grpc,
    filters_pb2,
    glossary_pb2_grpc,
    ingestion_pb2,
    ingestion_pb2_grpc,
    mesh_pb2_grpc,
    search_pb2,
    search_pb2_grpc,
    switches_pb2_grpc,
    workspaces_pb2,
    workspaces_pb2_grpc,
)

CALL_TIMEOUT_S = 30


class Caller:
    """A connection to a gateway, with the calls that the tests need."""

    def __init__(self, address: str) -> None:
        self._channel = grpc.insecure_channel(address)
        self.searches = search_pb2_grpc.SearchServiceStub(self._channel)
        self.workspaces = workspaces_pb2_grpc.WorkspaceServiceStub(self._channel)
        self.documents = documents_pb2_grpc.DocumentServiceStub(self._channel)
        self.ingestion = ingestion_pb2_grpc.IngestionServiceStub(self._channel)
        self.switches = switches_pb2_grpc.SwitchServiceStub(self._channel)
        self.glossary = glossary_pb2_grpc.GlossaryServiceStub(self._channel)
        self.mesh = mesh_pb2_grpc.MeshServiceStub(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._channel.close()

    def create_workspace(self, slug: str) -> None:
        """Creates a workspace with default settings."""
        request = workspaces_pb2.CreateWorkspaceRequest(slug=slug)
        self.workspaces.CreateWorkspace(request, timeout=CALL_TIMEOUT_S)

    def ingest(
        self, workspace: str, name: str, content: bytes
    ) -> ingestion_pb2.IngestDocumentResponse:
        """Uploads one file."""

        def parts() -> Iterator[ingestion_pb2.IngestDocumentRequest]:
            header = ingestion_pb2.IngestionHeader(workspace=workspace, file_name=name)
            yield ingestion_pb2.IngestDocumentRequest(header=header)
            for start in range(0, len(content), 2**18):
                part = content[start : start + 2**18]
                yield ingestion_pb2.IngestDocumentRequest(content=part)

        return self.ingestion.IngestDocument(parts(), timeout=CALL_TIMEOUT_S)

    def search(
        self,
        workspace: str,
        query: str,
        limit: int | None = None,
        filter: filters_pb2.Filter | None = None,
    ) -> search_pb2.SearchPassagesResponse:
        """Asks a question."""
        request = search_pb2.SearchPassagesRequest(
            workspace=workspace, query=query, limit=limit, filter=filter
        )
        return self.searches.SearchPassages(request, timeout=CALL_TIMEOUT_S)

    def wait_until_whole(self, workspace: str) -> None:
        """Waits until the gateway has found every service again; it connects anew after a pause."""
        for _ in range(100):
            with suppress(grpc.RpcError):
                # A wording that nobody has used: a cached query vector would hide the embedder.
                if not self.search(workspace, f"attente {uuid4().hex}").receipt.degraded:
                    return
            time.sleep(0.1)
        raise AssertionError("the mesh is not whole again after the restart of a service")

    def delete_document(
        self, workspace: str, external_id: str
    ) -> documents_pb2.DeleteDocumentResponse:
        """Deletes one document."""
        request = documents_pb2.DeleteDocumentRequest(workspace=workspace, external_id=external_id)
        return self.documents.DeleteDocument(request, timeout=CALL_TIMEOUT_S)


def outcomes(answer: search_pb2.SearchPassagesResponse) -> dict[str, str]:
    """Reads from a receipt how each stage ended, without the enumeration's prefix."""
    return {
        stage.stage: search_pb2.StageOutcome.Name(stage.outcome).removeprefix("STAGE_OUTCOME_")
        for stage in answer.receipt.stages
    }


def found(answer: search_pb2.SearchPassagesResponse) -> list[tuple[str, str]]:
    """Lists document and text of each hit, in order."""
    return [(hit.source.external_id, hit.text) for hit in answer.hits]


def said(error: grpc.RpcError) -> str:
    """Reads the message of a refusal."""
    return error.details() or ""


def details_of(error: grpc.RpcError) -> bytes:
    """Reads the encoded rich details of a refusal."""
    for item in error.trailing_metadata() or ():
        if item.key == "grpc-status-details-bin" and isinstance(item.value, bytes):
            return item.value
    return b""
