"""Fusion settings to and from messages; gateway and retriever hold equal copies."""

from __future__ import annotations

from gateway.fusion import Fusion
from justesse.gateway.v1 import workspaces_pb2
from justesse.retriever.v1 import workspaces_pb2 as retriever_pb2

AnyFusionSettings = workspaces_pb2.FusionSettings | retriever_pb2.FusionSettings


def fusion_from(message: AnyFusionSettings) -> Fusion:
    """Reads what is set."""
    return Fusion(
        message.rank_constant if message.HasField("rank_constant") else None,
        message.lexical_weight if message.HasField("lexical_weight") else None,
        message.dense_weight if message.HasField("dense_weight") else None,
        dict(message.space_weights),
    )


def write_fusion(message: AnyFusionSettings, fusion: Fusion) -> None:
    """Writes what is chosen."""
    if fusion.rank_constant is not None:
        message.rank_constant = fusion.rank_constant
    if fusion.lexical_weight is not None:
        message.lexical_weight = fusion.lexical_weight
    if fusion.dense_weight is not None:
        message.dense_weight = fusion.dense_weight
    message.space_weights.update(fusion.space_weights)
