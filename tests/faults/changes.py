"""Documents that say which version they are, and clients that change them."""

from dataclasses import dataclass, field
from random import Random

import grpc
import grpc.aio
import numpy as np

from justesse.retriever.v1 import documents_pb2
from tests.fakes.retriever_client import RetrieverClient
from tests.faults.ledger import GONE, Ledger

PASSAGES = 3
WIDTH = 16
COMMON_WORD = "texte"


def texts_of(document: str, version: int) -> list[str]:
    """Returns the passages of a version, each with a word of its own; one never changes."""
    changing = [f"jeton{document}v{version}p{place} du texte" for place in range(1, PASSAGES)]
    return [f"constante{document} du texte", *changing]


def rows_of(document: str, version: int) -> list[list[float]]:
    """Returns the vectors of a version, unlike those of any other."""
    generator = np.random.default_rng([*document.encode(), version])
    rows: list[list[float]] = generator.standard_normal((PASSAGES, WIDTH)).tolist()
    return rows


async def change(
    client: RetrieverClient, document: str, version: int
) -> documents_pb2.UpsertDocumentResponse | documents_pb2.DeleteDocumentResponse:
    """Stores a version of a document, or deletes it (`GONE`)."""
    if version == GONE:
        return await client.documents.DeleteDocument(
            documents_pb2.DeleteDocumentRequest(workspace="docs", external_id=document)
        )
    return await client.put(
        document,
        texts_of(document, version),
        rows_of(document, version),
        content_hash=f"version {version}",
    )


async def noted_change(
    client: RetrieverClient, ledger: Ledger, document: str, version: int
) -> None:
    """Makes a change and notes both ends of the call."""
    ledger.send(document, version)
    await change(client, document, version)
    ledger.acknowledge(document, version)


def _from_a_lost_connection(error: grpc.aio.AioRpcError) -> bool:
    # The client's own library says so where the connection goes while it sends a passage.
    return (
        error.code() is grpc.StatusCode.UNAVAILABLE or error.details() == "Internal error from Core"
    )


@dataclass
class Author:
    """Changes documents of its own: 30 % new ones, 70 % known ones, living or deleted."""

    name: str
    random: Random
    new: int = 0
    known: int = 0
    _versions: dict[str, int] = field(default_factory=dict)
    _last: int = 0

    async def work(self, client: RetrieverClient, ledger: Ledger) -> None:
        """Sends one change after the other until the process is gone."""
        while True:
            document, version = self._next()
            self._versions[document] = version
            try:
                await noted_change(client, ledger, document, version)
            except grpc.aio.AioRpcError as error:
                if not _from_a_lost_connection(error):
                    raise
                return

    def learn(self, ledger: Ledger) -> None:
        """Takes over what became of the changes that had no answer."""
        acknowledged = ledger.read().acknowledged
        self._versions = {document: acknowledged[document] for document in self._versions}

    def _next(self) -> tuple[str, int]:
        self._last += 1
        living = [document for document, version in self._versions.items() if version != GONE]
        crowded = len(living) >= 14
        if not self._versions or (not crowded and self.random.random() < 0.3):
            self.new += 1
            return f"{self.name}{self._last}", self._last
        self.known += 1
        if living and (crowded or self.random.random() < len(living) / 25):
            return self.random.choice(living), GONE
        return self.random.choice(list(self._versions)[-25:]), self._last
