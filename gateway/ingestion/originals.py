"""Keeps the files that documents were made from, so that they can be cut anew without an upload.

A document's files lie in a folder of its own below that of its workspace, beside what their sender
said of them. A file is named by the SHA-256 of its bytes, which is also how a document's content
hash begins.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import fsspec  # type: ignore[import-untyped]
from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]

from chassis.errors import NotFound, ServiceError, Unavailable
from gateway.incoming_files import IncomingFile
from gateway.ingestion.received_files import ReceivedFile, full_disk_named, synced
from gateway.ingestion.upload_records import file_from, file_record

_PREFIX_LENGTH = 2
_DESCRIPTION = ".json"
_PARTIAL = ".partial"
_DOCUMENT = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Original:
    """A kept file, brought to this machine at `received`, and what its sender said of it."""

    file: IncomingFile
    received: ReceivedFile


@dataclass(frozen=True, slots=True)
class DocumentFolder:
    """Names the folder of a document's files, by its workspace and the SHA-256 of its id."""

    workspace: str
    name: str

    @classmethod
    def of(cls, workspace: str, external_id: str) -> DocumentFolder:
        """Returns the folder of this document."""
        return cls(workspace, hashlib.sha256(external_id.encode()).hexdigest())


class Originals:
    """A folder of originals, or any place that fsspec has a URL for. All methods block.

    A folder of this machine survives a loss of power; of other places, their own word is taken.
    Methods raise Unavailable where the place cannot be reached.
    """

    def __init__(self, place: str | Path) -> None:
        """Opens a place; raises ValueError where nothing knows its URL or it names no place."""
        self.place = str(place)
        try:
            self._files, self._root = fsspec.core.url_to_fs(self.place)
        except ImportError as error:
            raise ValueError(f"{self.place}: {error}") from error
        self._local = isinstance(self._files, LocalFileSystem)
        with self._reached():
            self._files.makedirs(self._root, exist_ok=True)

    def keep(self, received: ReceivedFile, file: IncomingFile, external_id: str) -> None:
        """Keeps a received file for a document; it is there for good once this returns.

        A received file is moved where it can be. ResourceExhausted: no disk space left.
        """
        folder = self._folder(file.workspace, external_id)
        target = f"{folder}/{received.sha256}{_suffix_of(file)}"
        with self._reached():
            self._files.makedirs(folder, exist_ok=True)
            if not self._files.exists(target):
                self._bring(received.path, target)
            self._write(f"{folder}/{received.sha256}{_DESCRIPTION}", _described(file))
            if self._local:
                self._sync_folders(folder)

    def fetch(self, workspace: str, external_id: str, sha256: str, into: Path) -> Original:
        """Copies a kept file into a folder of this machine; NotFound where it was not kept."""
        folder = self._folder(workspace, external_id)
        with self._reached():
            try:
                record = self._files.cat_file(f"{folder}/{sha256}{_DESCRIPTION}")
                file = file_from(json.loads(record))
                suffix = _suffix_of(file)
                path = into / f"{sha256}{suffix}"
                self._files.get_file(f"{folder}/{sha256}{suffix}", str(path))
            except FileNotFoundError as error:
                raise NotFound(
                    f"the file that document {external_id!r} was made from was not kept; send it "
                    "again",
                    reason="ORIGINAL_NOT_FOUND",
                ) from error
        return Original(file, ReceivedFile(path, sha256, path.stat().st_size))

    def keep_only(self, workspace: str, external_id: str, sha256: str) -> None:
        """Removes the files that a document was made from before this one."""
        folder = self._folder(workspace, external_id)
        with self._reached():
            self._remove([path for path in self._below(folder) if not _is_of(path, sha256)])

    def remove_document(self, workspace: str, external_id: str) -> int:
        """Removes all files of a document; returns how many, without their descriptions."""
        return self._remove_tree(self._folder(workspace, external_id))

    def remove_workspace(self, workspace: str) -> int:
        """Removes all files of a workspace; returns how many, without their descriptions."""
        return self._remove_tree(f"{self._root}/{workspace}")

    def folders(self) -> frozenset[DocumentFolder]:
        """Lists the folders of all documents; what else lies at the place is left out."""
        with self._reached():
            found = {PurePosixPath(path).parent for path in self._below(self._root)}
        root = PurePosixPath(self._root)
        return frozenset(
            DocumentFolder(folder.parts[-3], folder.name)
            for folder in found
            if len(folder.parts) == len(root.parts) + 3
            and _DOCUMENT.fullmatch(folder.name)
            and folder.parts[-2] == folder.name[:_PREFIX_LENGTH]
        )

    def remove(self, folder: DocumentFolder) -> int:
        """Removes a document's folder; returns how many files, without their descriptions."""
        return self._remove_tree(self._path(folder))

    def _folder(self, workspace: str, external_id: str) -> str:
        return self._path(DocumentFolder.of(workspace, external_id))

    def _path(self, folder: DocumentFolder) -> str:
        return f"{self._root}/{folder.workspace}/{folder.name[:_PREFIX_LENGTH]}/{folder.name}"

    def _bring(self, source: Path, target: str) -> None:
        if not self._local:
            self._files.put_file(str(source), target)
            return
        synced(source)
        try:
            os.replace(source, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with _partial(target) as partial:
                shutil.copyfile(source, partial)

    def _write(self, target: str, data: bytes) -> None:
        if not self._local:
            self._files.pipe_file(target, data)
            return
        with _partial(target) as partial:
            partial.write_bytes(data)

    def _sync_folders(self, folder: str) -> None:
        here, root = Path(folder), Path(self._root)
        synced(here)
        for above in here.parents:
            synced(above)
            if above == root:
                return

    def _below(self, folder: str) -> list[str]:
        try:
            found: list[str] = self._files.find(folder)
        except FileNotFoundError:
            return []
        return found

    def _remove_tree(self, folder: str) -> int:
        with self._reached():
            files = self._below(folder)
            if files or self._files.exists(folder):
                self._files.rm(folder, recursive=True)
            return sum(not path.endswith((_DESCRIPTION, _PARTIAL)) for path in files)

    def _remove(self, paths: list[str]) -> None:
        for path in paths:
            self._files.rm_file(path)

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Turns what the place's library raises into one error with the place's name."""
        try:
            with full_disk_named():
                yield
        except ServiceError:
            raise
        # The libraries behind fsspec raise errors of their own, most of them no OSError.
        except Exception as error:
            raise Unavailable(
                f"the place of originals, {self.place}, cannot be used: {error}",
                reason="ORIGINALS_UNAVAILABLE",
            ) from error


@contextmanager
def _partial(target: str) -> Iterator[Path]:
    """Yields a name to write to; what was written bears the target's name once it is on disk."""
    partial = Path(f"{target}{_PARTIAL}")
    try:
        yield partial
        synced(partial)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def _is_of(path: str, sha256: str) -> bool:
    return PurePosixPath(path).name.startswith(f"{sha256}.")


def _suffix_of(file: IncomingFile) -> str:
    return PurePosixPath(file.file_name.replace("\\", "/")).suffix.lower()


def _described(file: IncomingFile) -> bytes:
    return json.dumps(file_record(file)).encode()
