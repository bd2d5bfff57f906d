"""What an answer cost and how it came about: one report a stage, and their sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class StageOutcome(Enum):
    """How a stage ended."""

    RAN = "ran"
    SWITCHED_OFF = "switched_off"
    SKIPPED = "skipped"
    DEGRADED = "degraded"


@dataclass(frozen=True, slots=True)
class StageReport:
    """What one stage did.

    `reason` is UPPER_SNAKE and `detail` its wording; both are empty for a stage that ran, and
    neither ever holds query or document text. `latency_ms` is in milliseconds. `cost` is None where
    the price is unknown; `currency` is its ISO 4217 code.
    """

    stage: str
    outcome: StageOutcome
    reason: str = ""
    detail: str = ""
    provider: str = ""
    model: str = ""
    latency_ms: float = 0.0
    input_token_count: int = 0
    output_token_count: int = 0
    cost: float | None = None
    currency: str = ""

    def lasting(self, latency_ms: float) -> StageReport:
        """Returns the same report with this latency."""
        # Several times faster than `dataclasses.replace`, and asked for by every stage.
        return StageReport(
            self.stage,
            self.outcome,
            self.reason,
            self.detail,
            self.provider,
            self.model,
            latency_ms,
            self.input_token_count,
            self.output_token_count,
            self.cost,
            self.currency,
        )


@dataclass(frozen=True, slots=True)
class Cost:
    """An amount of money in units of `currency` (ISO 4217)."""

    amount: float
    currency: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """Reports of all stages in the order of the pipeline, `latency_ms` from door to answer.

    `costs` is the sum of the known costs, one a currency. `variant` says what rollouts of switches
    made of the query; empty where none is on.
    """

    request_id: str
    stages: tuple[StageReport, ...]
    latency_ms: float
    costs: tuple[Cost, ...] = ()
    variant: str = ""

    @property
    def degraded(self) -> bool:
        """At least one stage is degraded."""
        return any(report.outcome is StageOutcome.DEGRADED for report in self.stages)


def sum_costs(reports: Sequence[StageReport]) -> tuple[Cost, ...]:
    """Adds up the known costs by currency; a report without a price adds nothing."""
    amounts: dict[str, float] = {}
    for report in reports:
        if report.cost is not None and report.currency:
            amounts[report.currency] = amounts.get(report.currency, 0.0) + report.cost
    return tuple(Cost(amounts[currency], currency) for currency in sorted(amounts))
