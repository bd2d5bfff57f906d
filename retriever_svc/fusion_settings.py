"""What the fusion of lists works with: settings of a workspace, and what one search changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """Holds the constant of the fusion formula, over 0, and the weights of lists, at least 0."""

    rank_constant: float = 60.0
    lexical_weight: float = 1.0
    """Weight of every BM25 list."""
    dense_weight: float = 1.0
    """Weight of every list of a space that is not in `space_weights`."""
    space_weights: Mapping[str, float] = field(default_factory=dict)

    def weight_of(self, space_id: str) -> float:
        """Returns the weight of a space's lists."""
        return self.space_weights.get(space_id, self.dense_weight)

    def changed_by(self, choices: FusionChoices) -> FusionSettings:
        """Returns these settings with what was chosen in place of it."""
        chosen = {
            name: value
            for name in ("rank_constant", "lexical_weight", "dense_weight")
            if (value := getattr(choices, name)) is not None
        }
        if choices.space_weights:
            chosen["space_weights"] = choices.space_weights
        return replace(self, **chosen) if chosen else self

    def in_words(self) -> str:
        """Names every value, for receipts."""
        spaces = "".join(
            f", {space_id} {weight:g}" for space_id, weight in sorted(self.space_weights.items())
        )
        return (
            f"k = {self.rank_constant:g}; weights: bm25 {self.lexical_weight:g}, "
            f"spaces {self.dense_weight:g}{spaces}"
        )


@dataclass(frozen=True, slots=True)
class FusionChoices:
    """Holds the settings that differ; None, and no weights of spaces, leave them as they are."""

    rank_constant: float | None = None
    lexical_weight: float | None = None
    dense_weight: float | None = None
    space_weights: Mapping[str, float] = field(default_factory=dict)
