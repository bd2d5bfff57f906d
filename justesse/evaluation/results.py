"""The result of a run: figures of each configuration, against a baseline, and what they cost."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from justesse.evaluation.answers import Answer
from justesse.evaluation.figures import FIGURES, Figures, figures_of
from justesse.evaluation.floors import Floor, floors
from justesse.evaluation.judged_set import JudgedSet, Question
from justesse.evaluation.losses import Loss, losses
from justesse.evaluation.significance import Difference, Estimate, difference, estimate

WHOLE = "all"
"""The group that holds every question."""
IN_ALL = "search in all"
"""The stage that stands for all of them."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds at the median and at the 95th percentile."""

    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class ConfigurationResult:
    """What one configuration reached.

    `estimates` and `differences` are by figure and group of questions: "all", and each domain.
    Differences are against the baseline, none for the baseline itself. `latencies` are by stage,
    and of the whole search under IN_ALL. Tokens and cost are means a search.
    """

    name: str
    estimates: Mapping[str, Mapping[str, Estimate]]
    differences: Mapping[str, Mapping[str, Difference]]
    values: Figures
    latencies: Mapping[str, Latency]
    degraded: Mapping[str, int]
    input_tokens: float
    output_tokens: float
    cost: float
    currency: str
    losses: tuple[Loss, ...]
    floors: tuple[Floor, ...]


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run measured; the first configuration is the baseline of the others."""

    set_name: str
    question_count: int
    unanswerable_count: int
    document_count: int
    configurations: tuple[ConfigurationResult, ...]


def run_result(judged: JudgedSet, answers: Mapping[str, Mapping[str, Answer]]) -> RunResult:
    """Returns the result of the answers by configuration and question id.

    Raises MissingExtraError without the extra `eval`.
    """
    questions = [question for question in judged.questions if question.answerable]
    results: list[ConfigurationResult] = []
    baseline = next(iter(answers.values()))
    for name, given in answers.items():
        values = figures_of(questions, {key: answer.ranking for key, answer in given.items()})
        base = results[0].values if results else None
        results.append(_configuration(name, judged, given, values, base, baseline))
    return RunResult(
        judged.name,
        len(questions),
        len(judged.questions) - len(questions),
        len(judged.documents),
        tuple(results),
    )


def groups_of(questions: Sequence[Question]) -> Mapping[str, list[str]]:
    """Returns the question ids of each group: all, then each domain by name."""
    groups = {WHOLE: [question.question_id for question in questions]}
    for domain in sorted({question.domain for question in questions} - {""}):
        groups[domain] = [each.question_id for each in questions if each.domain == domain]
    return groups


def _configuration(
    name: str,
    judged: JudgedSet,
    answers: Mapping[str, Answer],
    values: Figures,
    base: Figures | None,
    baseline: Mapping[str, Answer],
) -> ConfigurationResult:
    questions = [question for question in judged.questions if question.answerable]
    groups = groups_of(questions)
    given = list(answers.values())

    def picked(figures: Figures, figure: str, group: str) -> list[float]:
        return [figures[figure][question_id] for question_id in groups[group]]

    return ConfigurationResult(
        name=name,
        estimates={
            figure: {group: estimate(picked(values, figure, group)) for group in groups}
            for figure in FIGURES
        },
        differences={}
        if base is None
        else {
            figure: {
                group: difference(picked(values, figure, group), picked(base, figure, group))
                for group in groups
            }
            for figure in FIGURES
        },
        values=values,
        latencies=_latencies(given),
        degraded=_degraded(given),
        input_tokens=statistics.fmean(answer.input_tokens for answer in given),
        output_tokens=statistics.fmean(answer.output_tokens for answer in given),
        cost=statistics.fmean(answer.cost for answer in given),
        currency=next((answer.currency for answer in given if answer.currency), ""),
        losses=() if base is None else losses(questions, baseline, answers),
        floors=floors(judged.questions, answers),
    )


def _latencies(answers: Sequence[Answer]) -> Mapping[str, Latency]:
    times: dict[str, list[float]] = {}
    for answer in answers:
        for stage, milliseconds in answer.stage_ms.items():
            times.setdefault(stage, []).append(milliseconds)
        times.setdefault(IN_ALL, []).append(answer.latency_ms)
    return {stage: _latency(each) for stage, each in times.items()}


def _latency(times: Sequence[float]) -> Latency:
    ordered = sorted(times)
    last = len(ordered) - 1
    return Latency(statistics.median(ordered), ordered[min(last, len(ordered) * 95 // 100)])


def _degraded(answers: Sequence[Answer]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for answer in answers:
        for stage in answer.degraded:
            counts[stage] = counts.get(stage, 0) + 1
    return counts
