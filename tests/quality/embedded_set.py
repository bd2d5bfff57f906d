"""A labelled set with the vectors that the mesh would make of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embedder_svc.embedding import EmbeddingPurpose
from gateway.ingestion.chunking.embedded_text import embedded_text
from gateway.ingestion.chunking.windows import windows_of
from tests.quality.known_vectors import KnownVectors
from tests.quality.labelled_set import LabelledSet


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedSet:
    """Every document as one passage. `window_counts[i]` of the `windows` belong to passage i."""

    labelled: LabelledSet
    space_id: str
    passages: NDArray[np.float32]
    window_counts: tuple[int, ...]
    windows: NDArray[np.float32]
    questions: NDArray[np.float32]


async def embedded_set(labelled: LabelledSet, known: KnownVectors) -> EmbeddedSet:
    """Embeds passages with their titles, windows as ingestion cuts them, and questions."""
    passages = [
        embedded_text((document.title,) if document.title else (), document.text)
        for document in labelled.documents
    ]
    windows = [windows_of(document.text, document.title) for document in labelled.documents]
    return EmbeddedSet(
        labelled,
        known.space_id,
        await known.of(passages, EmbeddingPurpose.DOCUMENT),
        tuple(map(len, windows)),
        await known.of([text for row in windows for text in row], EmbeddingPurpose.DOCUMENT),
        await known.of([each.text for each in labelled.questions], EmbeddingPurpose.QUERY),
    )
