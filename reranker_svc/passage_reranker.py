"""Reranks the candidates of one question and reports how.

The implementations are asked in their order: where one fails, the next one sorts within the time
that is left, and where none can, the fused order stays. The report names what failed.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import structlog

from chassis.cost_ledger import CostLedger
from chassis.deadline import Deadline, current_deadline, narrowed_deadline
from chassis.errors import DeadlineExceeded, Internal, ServiceError, Unavailable
from ranking_formula.formula import rank_by_formula
from reranker_svc.bill import Bill, Charge
from reranker_svc.implementation import Implementation
from reranker_svc.model_window import ModelWindow
from reranker_svc.passage_model import ModelOrder, PassageModel
from reranker_svc.reports import billed, by_formula, by_model, no_candidates, not_sorted
from reranker_svc.reranking import FormulaAlone, RankedPassage, Ranking, RerankRequest
from reranker_svc.usage import Usage

_log = structlog.get_logger("reranker_svc.passage_reranker")

# Of the time that is left; the rest is for the implementations behind, and for the way back.
_SHARE_BEFORE_ANOTHER_MODEL = 0.6
_SHARE_OF_THE_LAST_MODEL = 0.9


class PassageReranker:
    """Sorts by the implementations that are configured.

    `order_of` names them for a workspace; a request may name others. `window` is how many
    candidates a model looks at where a request does not say; `time_limit_s` bounds a call without a
    deadline. Where the order names nothing but the formula, callers hear that it stays so for
    `formula_alone_for_s` seconds; 0 tells them nothing. The report's `latency_ms` is in
    milliseconds of `clock`, which counts in seconds.
    """

    def __init__(
        self,
        models: Mapping[Implementation, PassageModel],
        usage: Usage,
        costs: CostLedger,
        *,
        order_of: Callable[[str], Sequence[Implementation]] = lambda _: (Implementation.FORMULA,),
        similarity_weight: float = 0.5,
        window: int = 10,
        formula_alone_for_s: float = 0.0,
        time_limit_s: float = 5.0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._models = models
        self._usage = usage
        self._costs = costs
        self._order_of = order_of
        self._similarity_weight = similarity_weight
        self._window = window
        self._formula_alone = FormulaAlone(formula_alone_for_s, similarity_weight)
        self._time_limit_s = time_limit_s
        self._clock = clock

    async def rerank(self, request: RerankRequest) -> Ranking:
        """Returns a permutation of the candidates and the report of the stage."""
        start = self._clock()
        bill = self._opened_bill(request.workspace)
        ranking = await self._ranked(request, bill)
        report = billed(ranking.report, bill, (self._clock() - start) * 1000.0)
        self._usage.count(report)
        return replace(ranking, report=report)

    def _opened_bill(self, workspace: str) -> Bill:
        def note(charge: Charge) -> None:
            # At once, since the call may be cancelled before it ends.
            self._usage.count_charge(charge)
            self._costs.add(workspace, charge.cost or 0.0)

        return Bill(self._costs.may_pay(workspace), on_charge=note)

    async def _ranked(self, request: RerankRequest, bill: Bill) -> Ranking:
        if not request.candidates:
            return Ranking((), no_candidates())
        deadline = current_deadline() or Deadline.after(self._time_limit_s)
        window = ModelWindow.of(request.candidates, request.model_candidate_count or self._window)
        order = request.implementations or self._order_of(request.workspace)
        failures: list[ServiceError] = []
        for at, implementation in enumerate(order):
            if implementation is Implementation.FORMULA:
                passages = rank_by_formula(
                    request.candidates,
                    similarity_weight=self._similarity_weight,
                    include_parts=request.include_formula_parts,
                )
                if any(passage.score is not None for passage in passages):
                    return Ranking(passages, by_formula(failures), self._alone(request, order))
            elif len(window.indices) > 1:
                seconds = deadline.share(_share(order[at + 1 :]))
                try:
                    model = self._model(implementation)
                    answer = await _asked(model, request.question, window, seconds, bill)
                except ServiceError as error:
                    failures.append(error)
                    self._usage.count_failure(implementation, error)
                else:
                    return Ranking(window.ordered(answer), by_model(answer, failures))
        return Ranking(_as_fused(request), not_sorted(failures))

    def _alone(
        self, request: RerankRequest, order: Sequence[Implementation]
    ) -> FormulaAlone | None:
        """Returns what callers may keep to; an order that the request names is its own."""
        alone = tuple(order) == (Implementation.FORMULA,) and not request.implementations
        return self._formula_alone if alone and self._formula_alone.seconds else None

    def _model(self, implementation: Implementation) -> PassageModel:
        model = self._models.get(implementation)
        if model is None:
            raise Unavailable(
                f"reranking by {implementation.value} is not configured", reason="NOT_CONFIGURED"
            )
        return model


def _share(behind: Sequence[Implementation]) -> float:
    """Returns how much of the time left a model gets that has these implementations behind it."""
    other_models = any(implementation is not Implementation.FORMULA for implementation in behind)
    return _SHARE_BEFORE_ANOTHER_MODEL if other_models else _SHARE_OF_THE_LAST_MODEL


async def _asked(
    model: PassageModel, question: str, window: ModelWindow, seconds: float, bill: Bill
) -> ModelOrder:
    """Returns the model's order; whatever goes wrong is a ServiceError."""
    try:
        with narrowed_deadline(seconds) as deadline:
            async with asyncio.timeout(deadline.remaining()):
                return await model.order(question, window.passages, deadline, bill)
    except TimeoutError as error:
        raise DeadlineExceeded(f"{model.name} did not answer in time") from error
    except ServiceError:
        raise
    except Exception as error:
        _log.exception("reranking model failed", implementation=model.name)
        raise Internal(f"{model.name} failed for a reason that the log holds") from error


def _as_fused(request: RerankRequest) -> tuple[RankedPassage, ...]:
    return tuple(RankedPassage(candidate.passage_id) for candidate in request.candidates)
