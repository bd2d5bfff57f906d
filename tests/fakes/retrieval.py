"""Documents, vectors and searches for tests of the retriever, in as few words as possible."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from retriever_svc.documents import Document, DocumentUpsert, Passage, PassageVectors
from retriever_svc.searches import QueryVariant, SearchMode, SearchRequest, SearchResult

SPACE = "test/model@1/4/l2/none"
OTHER_SPACE = "test/other@1/4/l2/none"


def vector(*values: float) -> npt.NDArray[np.float32]:
    """Returns a vector of these values."""
    return np.array(values, np.float32)


def passage_vectors(
    rows: Sequence[Sequence[float]],
    space_id: str = SPACE,
    positions: Sequence[int] | None = None,
    sliced: Sequence[int] = (),
) -> PassageVectors:
    """Returns one vector a passage, for those at `positions`, for all if None.

    Those of the rows `sliced` are means of slices.
    """
    chosen = range(len(rows)) if positions is None else positions
    return PassageVectors(
        space_id,
        np.array(chosen, np.int64),
        np.array(rows, np.float32),
        sliced_rows=frozenset(sliced),
    )


def upsert(
    external_id: str,
    texts: Sequence[str],
    *,
    workspace: str = "docs",
    vectors: Sequence[PassageVectors] = (),
    hashes: Sequence[str] | None = None,
    **document: Any,
) -> DocumentUpsert:
    """Returns an upsert of a document with one passage a text.

    The content hash follows from all that is given, so other content has another one; a passage's
    embedded text is its text unless `hashes` says otherwise.
    """
    embedded = [f"hash of {text}" for text in texts] if hashes is None else hashes
    content = repr((external_id, list(texts), list(embedded), sorted(document.items())))
    fields = {"content_hash": content, **document}
    return DocumentUpsert(
        workspace,
        Document(external_id, **fields),
        tuple(
            Passage(index, text, embedded_text_hash=embedded[index])
            for index, text in enumerate(texts)
        ),
        tuple(vectors),
    )


def request(
    text: str,
    vectors: Mapping[str, npt.NDArray[np.float32]] | None = None,
    *,
    workspace: str = "docs",
    mode: SearchMode = SearchMode.HYBRID,
    **options: Any,
) -> SearchRequest:
    """Returns a search for one wording."""
    variant = QueryVariant(text, vectors=vectors or {})
    return SearchRequest(workspace, (variant,), mode, **options)


def found(result: SearchResult) -> list[str]:
    """Returns the texts of the hits, best first."""
    return [hit.passage.text for hit in result.hits]


def unit_rows(count: int, dimension: int, seed: int) -> npt.NDArray[np.float32]:
    """Returns clustered unit vectors, [count, dimension], the same for the same seed."""
    generator = np.random.default_rng(seed)
    centres = generator.standard_normal((max(1, count // 20), dimension))
    rows = centres[generator.integers(len(centres), size=count)]
    rows = rows + 0.4 * generator.standard_normal((count, dimension))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(rows, np.float32)
