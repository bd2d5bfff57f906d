"""A file on its way to the gateway, in parts."""

import io
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeAlias

from justesse.client.ingestion import DocumentFacts, header_message
from justesse.gateway.v1.ingestion_pb2 import IngestDocumentRequest

PART_BYTES = 256 * 1024
"""Bytes of a file that one message carries."""

Content: TypeAlias = str | os.PathLike[str] | bytes
"""The path of a file, or its bytes."""


class Upload:
    """An open file and the messages that carry it; a context manager that closes the file."""

    def __init__(self, workspace: str, content: Content, file_name: str, facts: DocumentFacts):
        """Opens the file.

        Raises ValueError for bytes without a file name, TypeError and ValueError for facts that
        cannot be sent, OSError for a file that cannot be opened.
        """
        if isinstance(content, bytes) and not file_name:
            raise ValueError("file_name: bytes need one; its ending decides how they are read")
        name = file_name if isinstance(content, bytes) else file_name or Path(content).name
        self.header = header_message(workspace, name, facts)
        self._file: BinaryIO
        if isinstance(content, bytes):
            self._file = io.BytesIO(content)
        else:
            self._file = Path(content).open("rb")  # noqa: SIM115 - closed by __exit__
        if self._file.seekable():
            self.header.header.byte_count = self._file.seek(0, io.SEEK_END)
            self._file.seek(0)

    def __enter__(self) -> "Upload":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def next_part(self) -> IngestDocumentRequest | None:
        """Reads the next part; None at the end. Raises OSError as reading does."""
        content = self._file.read(PART_BYTES)
        return IngestDocumentRequest(content=content) if content else None


class UploadMessages:
    """Iterates over the messages of an upload for the synchronous API.

    gRPC iterates in a thread of its own, where an exception would only be logged, and a mere end
    would pass a torn file off as a whole one. A read that fails therefore ends the call from here,
    and `failure` keeps the reason for the caller.
    """

    def __init__(self, upload: Upload) -> None:
        self._upload = upload
        self._cancel_call: Callable[[], object] | None = None
        self._call_is_known = threading.Event()
        self.failure: OSError | ValueError | None = None

    def belong_to(self, cancel_call: Callable[[], object]) -> None:
        """Tells how to end the call that the messages are sent by."""
        self._cancel_call = cancel_call
        self._call_is_known.set()

    def __iter__(self) -> Iterator[IngestDocumentRequest]:
        yield self._upload.header
        try:
            while part := self._upload.next_part():
                yield part
        except (OSError, ValueError) as error:  # ValueError: the file was closed meanwhile
            self.failure = error
            self._call_is_known.wait()
            if self._cancel_call is not None:
                self._cancel_call()
