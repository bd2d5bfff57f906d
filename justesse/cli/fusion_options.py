"""Options that say how ranked lists are fused."""

from collections.abc import Sequence
from typing import Annotated

import typer

from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.client import Fusion

RankConstantOption = Annotated[
    float | None,
    typer.Option("--rank-constant", metavar="K", help="k of weight / (k + rank), over 0."),
]
LexicalWeightOption = Annotated[
    float | None,
    typer.Option("--lexical-weight", metavar="WEIGHT", help="Weight of BM25 lists, from 0."),
]
DenseWeightOption = Annotated[
    float | None,
    typer.Option("--dense-weight", metavar="WEIGHT", help="Weight of lists of spaces, from 0."),
]
SpaceWeightOption = Annotated[
    list[str] | None,
    typer.Option(
        "--space-weight",
        metavar="SPACE=WEIGHT",
        help="Weight of one space in place of --dense-weight; may be repeated.",
    ),
]


def fusion_of(
    rank_constant: float | None,
    lexical_weight: float | None,
    dense_weight: float | None,
    space_weights: Sequence[str] | None,
) -> Fusion:
    """Returns what the options choose. CommandError for a weight that is none."""
    weights = {}
    for given in space_weights or ():
        # The id of a space may hold the sign, a weight does not.
        space_id, sign, weight = given.rpartition("=")
        try:
            weights[space_id] = float(weight)
        except ValueError:
            sign = ""
        if not sign or not space_id:
            raise CommandError(
                f"--space-weight: {given!r} is not SPACE=WEIGHT with a number", ExitCode.USAGE
            )
    return Fusion(rank_constant, lexical_weight, dense_weight, weights)


def fusion_in_words(fusion: Fusion) -> str:
    """Names the values of settings."""
    named = {
        "k": fusion.rank_constant,
        "bm25": fusion.lexical_weight,
        "spaces": fusion.dense_weight,
    }
    named |= dict(sorted(fusion.space_weights.items()))
    return ", ".join(f"{name} {value:g}" for name, value in named.items() if value is not None)
