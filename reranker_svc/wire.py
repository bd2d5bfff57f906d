"""Between the messages of the reranker contract and the domain."""

import math
from collections.abc import Sequence

from chassis.errors import InvalidArgument
from justesse.reranker.v1 import reranker_pb2 as pb
from reranker_svc.implementation import Implementation
from reranker_svc.limits import RequestLimits
from reranker_svc.reranking import (
    Candidate,
    RankedPassage,
    Ranking,
    RerankRequest,
    SpaceScore,
    StageOutcome,
    StageReport,
)

# Rounding in float32 may carry a cosine a little past 1.
_LARGEST_COSINE = 1.0 + 1e-3

_IMPLEMENTATIONS = {
    pb.IMPLEMENTATION_CHAT: Implementation.CHAT,
    pb.IMPLEMENTATION_ENDPOINT: Implementation.ENDPOINT,
    pb.IMPLEMENTATION_FOLDER: Implementation.FOLDER,
    pb.IMPLEMENTATION_FORMULA: Implementation.FORMULA,
}

_OUTCOMES = {
    StageOutcome.RAN: pb.STAGE_OUTCOME_RAN,
    StageOutcome.SKIPPED: pb.STAGE_OUTCOME_SKIPPED,
    StageOutcome.DEGRADED: pb.STAGE_OUTCOME_DEGRADED,
}


def rerank_request_from(message: pb.RerankPassagesRequest, limits: RequestLimits) -> RerankRequest:
    """Returns the request; raises InvalidArgument naming the first field that breaks a bound."""
    _check_question(message.question, limits)
    _check_count(len(message.candidates), limits)
    if message.model_candidate_count < 0:
        raise InvalidArgument(
            f"model_candidate_count is {message.model_candidate_count}; use 0 for the default",
            field="model_candidate_count",
        )
    candidates = tuple(
        [_candidate_from(candidate, at) for at, candidate in enumerate(message.candidates)]
    )
    _check_unique(candidates)
    return RerankRequest(
        message.workspace,
        message.question,
        candidates,
        message.model_candidate_count,
        implementations=_implementations_from(message.implementations),
        include_formula_parts=message.include_formula_parts,
    )


def to_response(ranking: Ranking) -> pb.RerankPassagesResponse:
    """Returns the message of a ranking."""
    response = pb.RerankPassagesResponse(report=_report_message(ranking.report))
    for passage in ranking.passages:
        _write_passage(response.passages.add(), passage)
    if ranking.formula_alone is not None:
        response.formula_alone_for_s = ranking.formula_alone.seconds
        response.formula_similarity_weight = ranking.formula_alone.similarity_weight
    return response


def _implementations_from(
    values: Sequence[pb.Implementation.ValueType],
) -> tuple[Implementation, ...]:
    for at, value in enumerate(values):
        if value not in _IMPLEMENTATIONS or value in values[:at]:
            raise InvalidArgument(
                f"implementation {value} is unknown or repeated; name each of "
                f"{', '.join(each.value for each in Implementation)} at most once",
                field=f"implementations[{at}]",
            )
    return tuple(_IMPLEMENTATIONS[value] for value in values)


def _check_question(question: str, limits: RequestLimits) -> None:
    if not question.strip():
        raise InvalidArgument("question is blank; give the question to sort for", field="question")
    size = len(question.encode())
    if size > limits.question_bytes:
        raise InvalidArgument(
            f"question has {size} bytes of UTF-8, over the limit of {limits.question_bytes}; "
            "shorten it",
            field="question",
        )


def _check_count(count: int, limits: RequestLimits) -> None:
    if count > limits.candidates:
        raise InvalidArgument(
            f"{count} candidates are over the limit of {limits.candidates}; send the best ones",
            field="candidates",
        )


def _check_unique(candidates: tuple[Candidate, ...]) -> None:
    if len({candidate.passage_id for candidate in candidates}) == len(candidates):
        return
    first_at: dict[str, int] = {}
    for at, candidate in enumerate(candidates):
        first = first_at.setdefault(candidate.passage_id, at)
        if first != at:
            raise InvalidArgument(
                f"passage id {candidate.passage_id!r} stands at {first} and at {at}; "
                "send every passage once",
                field=f"candidates[{at}].passage_id",
            )


def _candidate_from(message: pb.Candidate, at: int) -> Candidate:
    # Names of fields are made for errors only: there are hundreds in a request.
    if not message.passage_id.strip():
        raise InvalidArgument("passage id is blank", field=f"candidates[{at}].passage_id")
    return Candidate(
        message.passage_id,
        message.title,
        message.text,
        _space_scores_from(message, at),
        _bm25_from(message, at),
    )


def _space_scores_from(message: pb.Candidate, candidate_at: int) -> tuple[SpaceScore, ...]:
    scores: list[SpaceScore] = []
    for at, score in enumerate(message.space_scores):
        space_id = score.space_id
        cosine = score.cosine if score.HasField("cosine") else None
        window = score.best_window_cosine if score.HasField("best_window_cosine") else None
        if not space_id.strip() or (at and any(space_id == each.space_id for each in scores)):
            raise InvalidArgument(
                f"space id {space_id!r} is blank or repeated; send one score for each space",
                field=f"candidates[{candidate_at}].space_scores[{at}].space_id",
            )
        # Written so that NaN fails too.
        if cosine is not None and not abs(cosine) <= _LARGEST_COSINE:
            raise _no_cosine(cosine, f"candidates[{candidate_at}].space_scores[{at}].cosine")
        if window is not None and not abs(window) <= _LARGEST_COSINE:
            raise _no_cosine(
                window, f"candidates[{candidate_at}].space_scores[{at}].best_window_cosine"
            )
        scores.append(SpaceScore(space_id, cosine, window))
    return tuple(scores)


def _no_cosine(value: float, field: str) -> InvalidArgument:
    return InvalidArgument(
        f"{field} is {value}; send a cosine from -1 to 1, or nothing where there is none",
        field=field,
    )


def _bm25_from(message: pb.Candidate, at: int) -> float | None:
    if not message.HasField("bm25_score"):
        return None
    score = message.bm25_score
    if not (math.isfinite(score) and score >= 0.0):
        field = f"candidates[{at}].bm25_score"
        raise InvalidArgument(
            f"{field} is {score}; send a finite score of at least 0, or nothing where there is "
            "none",
            field=field,
        )
    return score


def _write_passage(message: pb.RankedPassage, passage: RankedPassage) -> None:
    message.passage_id = passage.passage_id
    if passage.score is not None:
        message.score = passage.score
    parts = passage.formula_parts
    if parts is None:
        return
    written = message.formula_parts
    written.space_id = parts.space_id
    if parts.similarity_share is not None:
        written.similarity_share = parts.similarity_share
    if parts.lexical_share is not None:
        written.lexical_share = parts.lexical_share
    written.similarity_weight = parts.similarity_weight
    # Parts of nothing but zeros are parts as well.
    written.SetInParent()


def _report_message(report: StageReport) -> pb.StageReport:
    return pb.StageReport(
        outcome=_OUTCOMES[report.outcome],
        reason=report.reason,
        detail=report.detail,
        provider=report.provider,
        model=report.model,
        latency_ms=report.latency_ms,
        input_token_count=report.input_token_count,
        output_token_count=report.output_token_count,
        cost=report.cost,
        currency=report.currency,
    )
