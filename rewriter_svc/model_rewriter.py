"""Rewrites queries with chat models, once for equal requests, and uses only what is usable."""

from __future__ import annotations

from dataclasses import dataclass

from chassis.cost_ledger import CostLedger
from chassis.deadline import Deadline, current_deadline, narrowed_deadline
from chassis.errors import DeadlineExceeded, ServiceError, Unavailable
from chat_models.chain import ChatChain
from chat_models.chat import Completion, FinishReason
from rewriter_svc.faithfulness import Fault, Original, fault_of
from rewriter_svc.language import query_language
from rewriter_svc.output_cleaning import cleaned, follow_up
from rewriter_svc.prompt import PROMPT_VERSION, rewrite_chat
from rewriter_svc.rewrite_cache import ModelRewrite, RewriteCache, cache_key
from rewriter_svc.rewriting import (
    EVEN_WEIGHTS,
    ListWeights,
    Rewrite,
    RewriteOrigin,
    RewriteRequest,
    StageOutcome,
    StageReport,
    original,
)
from rewriter_svc.single_flight import SingleFlight

# What an answer needs to travel back before the caller stops waiting.
_SHARE = 0.9
# With less, another call would come too late.
_SHORTEST_CALL_S = 0.2


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of the models: what came of it, and what it took."""

    rewrite: ModelRewrite
    completion: Completion


class ModelRewriter:
    """Asks the chain; whatever goes wrong, the original comes back with the reason."""

    def __init__(
        self,
        chain: ChatChain,
        cache: RewriteCache,
        costs: CostLedger,
        *,
        max_output_tokens: int,
        weights: ListWeights = EVEN_WEIGHTS,
    ) -> None:
        self._chain = chain
        self._cache = cache
        self._costs = costs
        self._max_output_tokens = max_output_tokens
        self._weights = weights
        self._flights: SingleFlight[bytes, _Call] = SingleFlight()

    async def rewrite(self, request: RewriteRequest) -> Rewrite:
        """Returns a usable query in every case; the report says whose it is."""
        key = cache_key(request, prompt_version=PROMPT_VERSION, models=self._chain.identity)
        known = self._cache.get(key)
        if known is not None:
            return self._answer(request, known, None)
        try:
            call, own = await self._call(request, key)
        except ServiceError as error:
            report = StageReport(StageOutcome.DEGRADED, error.reason, error.message)
            return original(request.query, report)
        return self._answer(request, call.rewrite, call.completion if own else None)

    async def _call(self, request: RewriteRequest, key: bytes) -> tuple[_Call, bool]:
        given = current_deadline()
        if key in self._flights:
            try:
                return await self._flights.run(key, lambda: self._ask(request, key))
            except (Unavailable, DeadlineExceeded):
                # Whoever was here first may have had less time.
                if not _has_time(given):
                    raise
        return await self._flights.run(key, lambda: self._ask(request, key))

    async def _ask(self, request: RewriteRequest, key: bytes) -> _Call:
        language = query_language(request.query, request.language)
        chat = rewrite_chat(
            request,
            language,
            max_output_tokens=self._max_output_tokens,
            context_tokens=self._chain.context_tokens,
        )
        deadline = current_deadline()
        may_pay = self._costs.may_pay(request.workspace)
        if deadline is None:
            completion = await self._chain.complete(chat, may_pay=may_pay)
        else:
            with narrowed_deadline(deadline.share(_SHARE)):
                completion = await self._chain.complete(chat, may_pay=may_pay)
        self._costs.add(request.workspace, completion.cost or 0.0)
        rewrite = judged(request, language, completion)
        self._cache.put(key, rewrite)
        return _Call(rewrite, completion)

    def _answer(
        self, request: RewriteRequest, rewrite: ModelRewrite, completion: Completion | None
    ) -> Rewrite:
        """Answers one caller; without a completion, what somebody else has paid for was used."""
        report = _report(rewrite, completion)
        if rewrite.fault is not None:
            return original(request.query, report)
        origin = RewriteOrigin.CACHE if completion is None else RewriteOrigin.MODEL
        return Rewrite(rewrite.query, rewrite.standalone_question, origin, report, self._weights)


def judged(request: RewriteRequest, language: str, completion: Completion) -> ModelRewrite:
    """Returns what can be used of a model's answer, or why nothing can."""
    provider, model = completion.provider, completion.model
    if completion.finish_reason is FinishReason.REFUSED:
        return ModelRewrite(provider, model, fault=Fault.REFUSED)
    if completion.finish_reason is FinishReason.LENGTH:
        return ModelRewrite(provider, model, fault=Fault.CUT)
    if request.history:
        return _judged_follow_up(request, language, completion)
    query = cleaned(completion.text)
    fault = fault_of(query, Original(request.query, language))
    if fault is not None:
        return ModelRewrite(provider, model, fault=fault)
    return ModelRewrite(provider, model, query, request.query)


def _judged_follow_up(
    request: RewriteRequest, language: str, completion: Completion
) -> ModelRewrite:
    """Uses the question alone where the search line is unusable, and neither without a question."""
    provider, model = completion.provider, completion.model
    lines = follow_up(completion.text)
    context = " ".join(turn.text for turn in request.history)
    asked = Original(request.query, language, context)
    question = lines.question or cleaned(completion.text)
    fault = fault_of(question, asked)
    if fault is not None:
        return ModelRewrite(provider, model, fault=fault)
    usable = fault_of(lines.search, asked) is None
    return ModelRewrite(provider, model, lines.search if usable else question, question)


def _report(rewrite: ModelRewrite, completion: Completion | None) -> StageReport:
    outcome, reason, detail = StageOutcome.RAN, "", ""
    if rewrite.fault is not None:
        outcome = StageOutcome.DEGRADED
        reason, detail = f"OUTPUT_{rewrite.fault.name}", rewrite.fault.value
    usage = completion.usage if completion is not None else None
    return StageReport(
        outcome,
        reason,
        detail,
        rewrite.provider,
        rewrite.model,
        input_token_count=usage.input_tokens if usage is not None else 0,
        output_token_count=usage.output_tokens if usage is not None else 0,
        cost=completion.cost if completion is not None else 0.0,
        currency=completion.currency if completion is not None else "",
    )


def _has_time(deadline: Deadline | None) -> bool:
    return deadline is None or deadline.remaining() * _SHARE > _SHORTEST_CALL_S
