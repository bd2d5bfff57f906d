"""How ranked lists are fused, by Reciprocal Rank Fusion."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from justesse.gateway.v1 import workspaces_pb2


@dataclass(frozen=True, slots=True)
class Fusion:
    """Settings of a workspace, or of one search; None leaves a value as it is."""

    rank_constant: float | None = None
    """Constant of the formula weight / (constant + rank), over 0; 60 by default."""
    lexical_weight: float | None = None
    """Weight of every BM25 list, at least 0; 1 by default."""
    dense_weight: float | None = None
    """Weight of every list of a space, at least 0; 1 by default."""
    space_weights: Mapping[str, float] = field(default_factory=dict)
    """Weights of single spaces by id, in place of `dense_weight`; none leaves them as they are."""


def fusion_message(fusion: Fusion) -> workspaces_pb2.FusionSettings:
    """Encodes what is chosen."""
    return workspaces_pb2.FusionSettings(
        rank_constant=fusion.rank_constant,
        lexical_weight=fusion.lexical_weight,
        dense_weight=fusion.dense_weight,
        space_weights=fusion.space_weights,
    )


def fusion_from(message: workspaces_pb2.FusionSettings) -> Fusion:
    """Decodes settings."""
    return Fusion(
        message.rank_constant if message.HasField("rank_constant") else None,
        message.lexical_weight if message.HasField("lexical_weight") else None,
        message.dense_weight if message.HasField("dense_weight") else None,
        dict(message.space_weights),
    )
