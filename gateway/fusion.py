"""How the retriever fuses ranked lists, as a workspace's settings or as one search asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from chassis.errors import FieldViolation

MAX_RANK_CONSTANT = 10_000
MAX_WEIGHT = 1_000
MAX_SPACES = 32


@dataclass(frozen=True, slots=True)
class Fusion:
    """The constant of the fusion formula, and the weights of lists; None leaves a value as it is.

    `space_weights` are those of single spaces, in place of `dense_weight`; without any they stay.
    """

    rank_constant: float | None = None
    lexical_weight: float | None = None
    dense_weight: float | None = None
    space_weights: Mapping[str, float] = field(default_factory=dict)


def fusion_violations(fusion: Fusion, place: str) -> Iterator[FieldViolation]:
    """Yields what is wrong with a fusion; `place` is where it stands in the request."""
    constant = fusion.rank_constant
    if constant is not None and not 0 < constant <= MAX_RANK_CONSTANT:
        yield FieldViolation(
            f"{place}.rank_constant",
            f"{place}.rank_constant must be over 0, at most {MAX_RANK_CONSTANT}, not {constant}",
        )
    weights = {
        f"{place}.lexical_weight": fusion.lexical_weight,
        f"{place}.dense_weight": fusion.dense_weight,
        **{
            f"{place}.space_weights[{space_id!r}]": weight
            for space_id, weight in fusion.space_weights.items()
        },
    }
    for name, weight in weights.items():
        if weight is not None and not 0 <= weight <= MAX_WEIGHT:
            yield FieldViolation(name, f"{name} must be from 0 to {MAX_WEIGHT}, not {weight}")
    if len(fusion.space_weights) > MAX_SPACES:
        yield FieldViolation(
            f"{place}.space_weights",
            f"{place}.space_weights names {len(fusion.space_weights)} spaces, at most "
            f"{MAX_SPACES} are taken",
        )
