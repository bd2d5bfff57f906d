"""The bounds of a file on its way in."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from chassis.errors import InvalidArgument
from gateway.incoming_files import IncomingFile, IngestionOutcome, IngestionReport
from gateway.uploads import Uploads


class CollectingIngestion:
    """An ingestion role that keeps what it is given, once it is whole."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []

    async def ingest_document(
        self, file: IncomingFile, content: AsyncIterator[bytes], *, timeout: float | None = None
    ) -> IngestionReport:
        """Keeps the content after its last byte."""
        self.taken.append(b"".join([part async for part in content]))
        return IngestionReport(IngestionOutcome.CREATED, file.file_name, "", 1)

    async def rechunk_document(
        self, workspace: str, external_id: str, *, timeout: float | None = None
    ) -> IngestionReport:
        """Is not called here."""
        raise NotImplementedError

    async def delete_originals(
        self, workspace: str, external_id: str = "", *, timeout: float | None = None
    ) -> int:
        """Is not called here."""
        raise NotImplementedError


async def parts(*content: bytes) -> AsyncIterator[bytes]:
    """Yields the parts of a file."""
    for part in content:
        yield part


@pytest.mark.parametrize("byte_count", [None, 6])
async def test_a_whole_file_is_taken_in(byte_count: int | None) -> None:
    """A file of the announced size, or of none announced, arrives."""
    ingestion = CollectingIngestion()

    await Uploads(ingestion).take_in(
        IncomingFile("essai", "note.md", byte_count=byte_count), parts(b"abc", b"def")
    )

    assert ingestion.taken == [b"abcdef"]


@pytest.mark.parametrize("byte_count", [0, 5, 7])
async def test_a_file_of_another_size_than_announced_is_refused(byte_count: int) -> None:
    """An upload that broke off, and looks as if it had ended, is never stored."""
    ingestion = CollectingIngestion()

    with pytest.raises(InvalidArgument, match=r"6 bytes of 'note\.md' arrived") as refused:
        await Uploads(ingestion).take_in(
            IncomingFile("essai", "note.md", byte_count=byte_count), parts(b"abc", b"def")
        )

    assert refused.value.reason == "INCOMPLETE_UPLOAD"
    assert ingestion.taken == []
