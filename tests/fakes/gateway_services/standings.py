"""What a retriever says of an expected passage."""

from __future__ import annotations

from gateway.explanations import (
    ExpectationOutcome,
    ListStanding,
    MatchedTerm,
    PassageStandings,
)
from gateway.searching import SpaceScore
from tests.fakes.gateway_services.spaces import SPACE


def standings(
    passage_id: str,
    outcome: ExpectationOutcome = ExpectationOutcome.RETURNED,
    *,
    chunk_index: int = 0,
    fused_rank: int | None = None,
    places: tuple[ListStanding, ...] = (ListStanding("bm25", 0, 34, 34.0, 1.5, 0.0),),
) -> PassageStandings:
    """Returns what the retriever says of a passage."""
    return PassageStandings(
        passage_id,
        chunk_index,
        ("Partie",),
        "p. 1",
        outcome,
        "in words",
        fused_rank,
        None if fused_rank is None else 1 / (60 + fused_rank),
        places,
        (MatchedTerm("retard", 1.5),),
        (SpaceScore(SPACE.space_id, 0.75),),
        1.5,
    )
