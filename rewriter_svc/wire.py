"""Between the messages of the rewriter contract and the domain."""

from chassis.errors import InvalidArgument
from justesse.rewriter.v1 import rewriter_pb2 as pb
from rewriter_svc.limits import RequestLimits
from rewriter_svc.rewriting import (
    ConversationRole,
    ConversationTurn,
    GlossaryEntry,
    Rewrite,
    RewriteOrigin,
    RewriteRequest,
    StageOutcome,
    StageReport,
)

_LANGUAGES = ("", "fr", "en")

_ROLES = {
    pb.CONVERSATION_ROLE_USER: ConversationRole.USER,
    pb.CONVERSATION_ROLE_ASSISTANT: ConversationRole.ASSISTANT,
}

_ORIGINS = {
    RewriteOrigin.ORIGINAL: pb.REWRITE_ORIGIN_ORIGINAL,
    RewriteOrigin.MODEL: pb.REWRITE_ORIGIN_MODEL,
    RewriteOrigin.CACHE: pb.REWRITE_ORIGIN_CACHE,
    RewriteOrigin.RULES: pb.REWRITE_ORIGIN_RULES,
}

_OUTCOMES = {
    StageOutcome.RAN: pb.STAGE_OUTCOME_RAN,
    StageOutcome.SKIPPED: pb.STAGE_OUTCOME_SKIPPED,
    StageOutcome.DEGRADED: pb.STAGE_OUTCOME_DEGRADED,
}


def rewrite_request_from(message: pb.RewriteQueryRequest, limits: RequestLimits) -> RewriteRequest:
    """Returns the request; raises InvalidArgument naming the first field that breaks a bound."""
    return RewriteRequest(
        workspace=message.workspace,
        query=_query_from(message.query, limits),
        language=_language_from(message.language),
        history=_history_from(message, limits),
        glossary=tuple(
            GlossaryEntry(entry.term, tuple(entry.synonyms)) for entry in message.glossary
        ),
        glossary_version=message.glossary_version,
    )


def to_response(rewrite: Rewrite) -> pb.RewriteQueryResponse:
    """Returns the message of a rewrite."""
    return pb.RewriteQueryResponse(
        query=rewrite.query,
        standalone_question=rewrite.standalone_question,
        origin=_ORIGINS[rewrite.origin],
        dense_weight=rewrite.weights.dense,
        lexical_weight=rewrite.weights.lexical,
        report=_report_message(rewrite.report),
        unchanged_for_s=rewrite.unchanged_for_s,
    )


def _query_from(query: str, limits: RequestLimits) -> str:
    if not query.strip():
        raise InvalidArgument("query is blank; give the words to search for", field="query")
    size = len(query.encode())
    if size > limits.query_bytes:
        raise InvalidArgument(
            f"query has {size} bytes of UTF-8, over the limit of {limits.query_bytes}; shorten it",
            field="query",
        )
    return query


def _language_from(language: str) -> str:
    if language not in _LANGUAGES:
        raise InvalidArgument(
            f"language is {language!r}; use 'fr', 'en', or leave it empty when unknown",
            field="language",
        )
    return language


def _history_from(
    message: pb.RewriteQueryRequest, limits: RequestLimits
) -> tuple[ConversationTurn, ...]:
    count = len(message.history)
    if count > limits.history_turns:
        raise InvalidArgument(
            f"history has {count} turns, over the limit of {limits.history_turns}; "
            "send the latest ones only",
            field="history",
        )
    size = sum(len(turn.text.encode()) for turn in message.history)
    if size > limits.history_bytes:
        raise InvalidArgument(
            f"history has {size} bytes of UTF-8, over the limit of {limits.history_bytes}; "
            "send fewer or shorter turns",
            field="history",
        )
    return tuple(_turn_from(turn, at) for at, turn in enumerate(message.history))


def _turn_from(turn: pb.ConversationTurn, at: int) -> ConversationTurn:
    role = _ROLES.get(turn.role)
    if role is None:
        raise InvalidArgument(
            f"role of turn {at} is {turn.role}; say whether the user or the assistant spoke",
            field=f"history[{at}].role",
        )
    return ConversationTurn(role, turn.text)


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
