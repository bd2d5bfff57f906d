"""Settings of the fusion, read and checked."""

import math

from chassis.errors import InvalidArgument
from justesse.retriever.v1 import search_pb2, workspaces_pb2
from retriever_svc.fusion_settings import FusionChoices, FusionSettings
from retriever_svc.wire.field_checks import checked_count

_MAX_RANK_CONSTANT = 10_000
_MAX_WEIGHT = 1_000
_MAX_SPACES = 32

AnyFusion = workspaces_pb2.FusionSettings | search_pb2.SearchPassagesRequest


def fusion_choices_from(message: AnyFusion, place: str = "") -> FusionChoices:
    """Returns what is set; the fields stand below `place` of a request.

    Raises InvalidArgument for a constant that is not over 0, a weight under 0, and both where they
    are not finite or too large for ranks to differ.
    """
    prefix = f"{place}." if place else ""
    rank_constant = message.rank_constant if message.HasField("rank_constant") else None
    if rank_constant is not None and not 0 < rank_constant <= _MAX_RANK_CONSTANT:
        field = f"{prefix}rank_constant"
        raise InvalidArgument(
            f"{field} is {rank_constant}; expected a number over 0, at most {_MAX_RANK_CONSTANT}",
            field=field,
        )
    lexical = message.lexical_weight if message.HasField("lexical_weight") else None
    dense = message.dense_weight if message.HasField("dense_weight") else None
    checked_count(len(message.space_weights), f"{prefix}space_weights", low=0, high=_MAX_SPACES)
    return FusionChoices(
        rank_constant,
        None if lexical is None else _checked_weight(lexical, f"{prefix}lexical_weight"),
        None if dense is None else _checked_weight(dense, f"{prefix}dense_weight"),
        {
            space_id: _checked_weight(weight, f"{prefix}space_weights[{space_id!r}]")
            for space_id, weight in sorted(message.space_weights.items())
        },
    )


def fusion_message(settings: FusionSettings) -> workspaces_pb2.FusionSettings:
    """Returns the message of settings, every value set."""
    return workspaces_pb2.FusionSettings(
        rank_constant=settings.rank_constant,
        lexical_weight=settings.lexical_weight,
        dense_weight=settings.dense_weight,
        space_weights=settings.space_weights,
    )


def _checked_weight(weight: float, field: str) -> float:
    if not (math.isfinite(weight) and 0 <= weight <= _MAX_WEIGHT):
        raise InvalidArgument(
            f"{field} is {weight}; expected a number from 0 to {_MAX_WEIGHT}", field=field
        )
    return weight
