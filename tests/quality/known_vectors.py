"""Vectors of texts, kept in a file between runs, since the embedded model takes its time."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.providers.in_process import InProcessProvider

_BATCH = 64


class KnownVectors:
    """Embeds with a provider what the file does not hold yet."""

    def __init__(self, path: Path, provider: InProcessProvider) -> None:
        self._provider = provider
        self._connection = sqlite3.connect(path)
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
        )

    @property
    def space_id(self) -> str:
        """The space of the vectors."""
        return self._provider.space.id

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()

    async def of(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> NDArray[np.float32]:
        """Returns one row of norm 1 for each text, n x dimension float32."""
        keys = [self._key(text, purpose) for text in texts]
        missing = {
            key: text for key, text in zip(keys, texts, strict=True) if self._known(key) is None
        }
        pairs = list(missing.items())
        for first in range(0, len(pairs), _BATCH):
            batch = pairs[first : first + _BATCH]
            embedded = await self._provider.embed([text for _, text in batch], purpose, None)
            rows = [
                (key, row.tobytes()) for (key, _), row in zip(batch, embedded.vectors, strict=True)
            ]
            with self._connection:
                self._connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
            await asyncio.sleep(0)
        blobs = [self._known(key) or b"" for key in keys]
        dimension = self._provider.space.dimension
        return np.frombuffer(b"".join(blobs), dtype=np.float32).reshape(len(texts), dimension)

    def _key(self, text: str, purpose: EmbeddingPurpose) -> bytes:
        return hashlib.sha256(f"{self.space_id}\0{purpose.value}\0{text}".encode()).digest()

    def _known(self, key: bytes) -> bytes | None:
        found = self._connection.execute(
            "SELECT vector FROM vectors WHERE key = ?", (key,)
        ).fetchone()
        return None if found is None else bytes(found[0])
