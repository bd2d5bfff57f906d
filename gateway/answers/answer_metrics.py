"""What operators see of answers."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter

from gateway.answers.events import AnswerOutcome


class AnswerMetrics:
    """Counts answers by who wrote them and how they ended, and what was wrong with their text."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._answers = Counter(
            "justesse_answers",
            "Answers: who wrote them, how they ended, why a question was refused.",
            ("origin", "end", "refusal"),
            registry=registry,
        )
        self._faults = Counter(
            "justesse_answer_faults",
            "Faults of texts that models wrote: unknown_citation, foreign_link, uncited_sentence, "
            "unsupported_sentence, other_language.",
            ("fault",),
            registry=registry,
        )

    def count(self, outcome: AnswerOutcome) -> None:
        """Counts one answer."""
        refusal = "" if outcome.refusal is None else outcome.refusal.reason
        self._answers.labels(outcome.origin.value, outcome.end.value, refusal).inc()
        checked = outcome.checked
        for fault, count in (
            ("unknown_citation", checked.unknown_citation_count),
            ("foreign_link", checked.removed_links),
            ("uncited_sentence", checked.uncited_count),
            ("unsupported_sentence", checked.unsupported_count),
            ("other_language", int(outcome.language_mismatch)),
        ):
            self._faults.labels(fault).inc(count)
