"""Archives of workspaces, and what came of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from justesse.gateway.v1.transfers_pb2 import (
    ImportHeader,
    ImportWorkspaceRequest,
    ImportWorkspaceResponse,
)

PART_BYTES = 1024 * 1024
"""Bytes of an archive that one message carries."""


@dataclass(frozen=True, slots=True)
class ImportedWorkspace:
    """What was imported; vectors are those of all spaces, without windows."""

    document_count: int
    passage_count: int
    vector_count: int
    glossary_entry_count: int
    switch_override_count: int


def import_messages(workspace: str, archive: BinaryIO) -> Iterator[ImportWorkspaceRequest]:
    """Yields the messages of an import. Raises OSError and ValueError as reading does."""
    yield ImportWorkspaceRequest(header=ImportHeader(workspace=workspace))
    while content := archive.read(PART_BYTES):
        yield ImportWorkspaceRequest(content=content)


def imported_workspace_from(response: ImportWorkspaceResponse) -> ImportedWorkspace:
    """Decodes the answer of an import."""
    return ImportedWorkspace(
        document_count=response.document_count,
        passage_count=response.passage_count,
        vector_count=response.vector_count,
        glossary_entry_count=response.glossary_entry_count,
        switch_override_count=response.switch_override_count,
    )
