"""Fusion settings in JSON."""

from __future__ import annotations

from pydantic import Field

from gateway.fusion import Fusion
from gateway.http.models.values import FiniteNumber, RequestBody


class FusionBody(RequestBody):
    """How ranked lists are fused; what is absent stays as it is."""

    rank_constant: FiniteNumber | None = Field(
        default=None, description="constant of the fusion formula, over 0; 60 by default"
    )
    lexical_weight: FiniteNumber | None = Field(
        default=None, description="weight of every BM25 list, at least 0; 1 by default"
    )
    dense_weight: FiniteNumber | None = Field(
        default=None, description="weight of every list of a space, at least 0; 1 by default"
    )
    space_weights: dict[str, FiniteNumber] = Field(
        default={}, description="weights of single spaces by id, in place of dense_weight"
    )

    def fusion(self) -> Fusion:
        """Returns the settings."""
        return Fusion(
            self.rank_constant, self.lexical_weight, self.dense_weight, self.space_weights
        )


def to_fusion_body(fusion: Fusion) -> FusionBody:
    """Writes settings."""
    return FusionBody(
        rank_constant=fusion.rank_constant,
        lexical_weight=fusion.lexical_weight,
        dense_weight=fusion.dense_weight,
        space_weights=dict(fusion.space_weights),
    )
