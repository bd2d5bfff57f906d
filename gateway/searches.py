"""Answers questions with passages and a receipt."""

from __future__ import annotations

import structlog

from chassis.deadline import Deadline, current_deadline
from chassis.request_id import current_request_id
from gateway.access.permitted_questions import permitted
from gateway.admission.admission import Admission
from gateway.page_tokens import token_of
from gateway.pipeline import STAGE_ORDER, Retrieval, find_passages
from gateway.questions import FoundPassages, Question
from gateway.receipt import Receipt, StageOutcome
from gateway.stage_calls import SearchParts
from gateway.stage_metrics import StageMetrics
from gateway.stage_times import StageTimes
from gateway.stages import Stages
from gateway.switches.rules import SwitchChoice
from gateway.switches.switching import Switching
from gateway.validation import check_question

DEFAULT_DEADLINE_S = 5.0

_log = structlog.get_logger("gateway.searches")


class Searches:
    """Runs questions through the pipeline with the switches in force."""

    def __init__(
        self,
        parts: SearchParts,
        switches: Switching,
        admission: Admission,
        stage_metrics: StageMetrics | None = None,
    ) -> None:
        self._parts = parts
        self._stage_metrics = stage_metrics
        self._switches = switches
        self._times = StageTimes()
        self.admission = admission

    async def search(self, question: Question) -> FoundPassages:
        """Finds passages within the caller's deadline, or 5 s where it gave none.

        InvalidArgument: what `check_question` refuses. NotFound: no such workspace. Unavailable:
        the retriever is lost. DeadlineExceeded: it did not answer in time. ResourceExhausted: too
        many are asking.
        """
        question = permitted(question)
        check_question(question)
        async with self.admission.place_for(question.workspace):
            run = self.begin(question, DEFAULT_DEADLINE_S)
            retrieval = await run.find_passages()
        following, fused = retrieval.following, retrieval.fused
        return FoundPassages(
            retrieval.hits,
            run.receipt(),
            retrieval.wordings.texts,
            next_page_token="" if following is None else token_of(following, question),
            total_count=retrieval.total_count,
            window_cut=fused.window_cut or fused.total_count > len(fused.hits),
        )

    def begin(self, question: Question, default_deadline_s: float) -> SearchRun:
        """Returns a run within the caller's deadline, or as many seconds where it gave none.

        It looks at no document that is not there for the call, whoever begins it.
        """
        question = permitted(question)
        deadline = current_deadline() or Deadline.after(default_deadline_s)
        choice = self._switches.choice(question.workspace, question.query)
        return SearchRun(self._parts, question, choice, deadline, self._times, self._stage_metrics)


class SearchRun:
    """One question on its way, and the receipt of what was done for it."""

    def __init__(
        self,
        parts: SearchParts,
        question: Question,
        choice: SwitchChoice,
        deadline: Deadline,
        times: StageTimes,
        stage_metrics: StageMetrics | None = None,
    ) -> None:
        self._stage_metrics = stage_metrics
        self.stages = Stages(deadline, STAGE_ORDER, times)
        self._parts = parts
        self._question = question
        self._choice = choice
        self._clock = deadline.clock
        self._started = deadline.clock()

    async def find_passages(self, *, include_formula_parts: bool = False) -> Retrieval:
        """Runs the pipeline; errors are those of `Searches.search`."""
        return await find_passages(
            self._parts,
            self._question,
            self._choice.values,
            self.stages,
            include_formula_parts=include_formula_parts,
        )

    def receipt(self) -> Receipt:
        """Returns what was done, and counts it and logs what was lost: to be called once."""
        receipt = Receipt(
            request_id=current_request_id(),
            stages=self.stages.reports(),
            latency_ms=(self._clock() - self._started) * 1e3,
            costs=self.stages.costs(),
            variant=self._choice.variant,
        )
        if self._stage_metrics is not None:
            self._stage_metrics.count(receipt.stages)
        for report in receipt.stages:
            if report.outcome is StageOutcome.DEGRADED:
                _log.warning(
                    "stage degraded", stage=report.stage, reason=report.reason, detail=report.detail
                )
        return receipt
