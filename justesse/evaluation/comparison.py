"""Compares the results of two runs on the questions that both have."""

from collections.abc import Mapping
from dataclasses import dataclass

from justesse.evaluation.figures import FIGURES
from justesse.evaluation.judged_set import BadSetError
from justesse.evaluation.significance import Difference, difference

Values = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Values by configuration, figure and question id."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure of a configuration that both runs have: means before and now."""

    configuration: str
    figure: str
    question_count: int
    before: float
    now: float
    difference: Difference


def comparisons(before: Values, now: Values) -> tuple[Comparison, ...]:
    """Compares every configuration of both runs; raises BadSetError if they share nothing."""
    found = []
    for name in before:
        if name not in now:
            continue
        for figure in FIGURES:
            old, new = before[name].get(figure, {}), now[name].get(figure, {})
            shared = [question_id for question_id in old if question_id in new]
            if shared:
                first = [old[question_id] for question_id in shared]
                second = [new[question_id] for question_id in shared]
                found.append(
                    Comparison(
                        name,
                        figure,
                        len(shared),
                        sum(first) / len(first),
                        sum(second) / len(second),
                        difference(second, first),
                    )
                )
    if not found:
        raise BadSetError("the two results share no configuration with the same questions")
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Demand:
    """A figure that must be reached, such as hit@3 of 0.9."""

    figure: str
    least: float

    @classmethod
    def parsed(cls, text: str) -> "Demand":
        """Reads `hit@3=0.9`; raises ValueError with words for a user."""
        figure, _, least = text.partition("=")
        if figure not in FIGURES:
            raise ValueError(f"{text!r} names none of {', '.join(FIGURES)}")
        try:
            value = float(least)
        except ValueError:
            value = -1.0
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{text!r} must end with a number from 0 to 1, as in {figure}=0.8")
        return cls(figure, value)
