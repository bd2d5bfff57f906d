"""Answers questions with passages and a receipt."""

from __future__ import annotations

import structlog

from chassis.deadline import Deadline, current_deadline
from chassis.request_id import current_request_id
from gateway.pipeline import STAGE_ORDER, find_passages
from gateway.questions import FoundPassages, Question
from gateway.receipt import Receipt, StageOutcome
from gateway.stage_calls import SearchParts
from gateway.stages import Stages
from gateway.switches.board import SwitchBoard
from gateway.validation import check_question

DEFAULT_DEADLINE_S = 5.0

_log = structlog.get_logger("gateway.searches")


class Searches:
    """Runs questions through the pipeline with the switches in force."""

    def __init__(self, parts: SearchParts, switches: SwitchBoard) -> None:
        self._parts = parts
        self._switches = switches

    async def search(self, question: Question) -> FoundPassages:
        """Finds passages within the caller's deadline, or 5 s where it gave none.

        InvalidArgument: what `check_question` refuses. NotFound: no such workspace. Unavailable:
        the retriever is lost. DeadlineExceeded: it did not answer in time.
        """
        check_question(question)
        deadline = current_deadline() or Deadline.after(DEFAULT_DEADLINE_S)
        started = deadline.clock()
        stages = Stages(deadline, STAGE_ORDER)
        retrieval = await find_passages(self._parts, question, self._switches.values(), stages)
        receipt = Receipt(
            request_id=current_request_id(),
            stages=stages.reports(),
            latency_ms=(deadline.clock() - started) * 1e3,
            costs=stages.costs(),
        )
        for report in receipt.stages:
            if report.outcome is StageOutcome.DEGRADED:
                _log.warning(
                    "stage degraded", stage=report.stage, reason=report.reason, detail=report.detail
                )
        return FoundPassages(retrieval.hits, receipt, retrieval.searched_queries)
