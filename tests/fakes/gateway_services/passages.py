"""Hits and documents to answer with."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.documents import (
    Document,
    Passage,
    StoredDocument,
    StoredPassage,
)
from gateway.searching import (
    FusedHit,
    HitContent,
    ListRank,
    SpaceScore,
)
from tests.fakes.gateway_services.spaces import SPACE


def fused_hit(
    passage_id: str,
    rank: int,
    *,
    lists: Sequence[int] = (),
    title: str = "Titre",
    text: str = "",
) -> FusedHit:
    """Returns a hit with a cosine in SPACE and a BM25 score.

    Its document is named by what stands before the hyphen of the passage id.
    """
    name = passage_id.partition("-")[0]
    content = HitContent(
        Passage(rank - 1, text or f"Texte de {passage_id}.", ("Partie",), "p. 1", 5, "h"),
        Document(
            f"{name}.md",
            title,
            source_uri=f"https://base.test/{name}",
            category="orders",
            metadata={"week": 12.0},
        ),
        list_ranks=tuple(ListRank(index, rank, 1 / (60 + rank)) for index in lists),
    )
    return FusedHit(
        passage_id=passage_id,
        read_content=lambda: content,
        fused_rank=rank,
        fused_score=1 / (60 + rank),
        space_scores=(SpaceScore(SPACE.space_id, 0.75),),
        bm25_score=3.5,
    )


def stored_document(external_id: str, *texts: str) -> StoredDocument:
    """Returns a document with one passage a text."""
    return StoredDocument(
        Document(external_id, title=f"Titre de {external_id}", metadata={"week": 12.0}),
        passage_count=len(texts),
        passages=tuple(
            StoredPassage(
                f"{external_id}-{index}",
                Passage(index, text, cuts_token=index == 1),
                (SPACE.space_id,),
                (SPACE.space_id,) if index == 1 else (),
            )
            for index, text in enumerate(texts)
        ),
    )
