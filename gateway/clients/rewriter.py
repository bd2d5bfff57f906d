"""The rewriter over gRPC."""

from __future__ import annotations

import math
from collections.abc import Sequence

import grpc

from chassis.errors import Internal
from gateway.clients.service_errors import errors_of
from gateway.clients.stage_reports import stage_report_from
from gateway.glossary.entry import NO_ENTRIES, MatchingEntries
from gateway.rewriting import ConversationRole, ConversationTurn, Rewrite, RewriteOrigin
from gateway.validation import MAX_QUERY_BYTES
from justesse.rewriter.v1 import rewriter_pb2, rewriter_pb2_grpc

_ROLES = {
    ConversationRole.USER: rewriter_pb2.CONVERSATION_ROLE_USER,
    ConversationRole.ASSISTANT: rewriter_pb2.CONVERSATION_ROLE_ASSISTANT,
}
_ORIGINS = {
    rewriter_pb2.REWRITE_ORIGIN_MODEL: RewriteOrigin.MODEL,
    rewriter_pb2.REWRITE_ORIGIN_CACHE: RewriteOrigin.CACHE,
    rewriter_pb2.REWRITE_ORIGIN_RULES: RewriteOrigin.RULES,
}


class RewriterClient:
    """Implements the `Rewriter` port."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = rewriter_pb2_grpc.RewriterServiceStub(channel)

    async def rewrite(
        self,
        query: str,
        *,
        workspace: str,
        language: str = "",
        history: Sequence[ConversationTurn] = (),
        glossary: MatchingEntries = NO_ENTRIES,
        timeout: float | None = None,
    ) -> Rewrite:
        """Rewrites one query; Internal where the answer holds no usable query."""
        request = rewriter_pb2.RewriteQueryRequest(
            workspace=workspace,
            query=query,
            language=language,
            history=[
                rewriter_pb2.ConversationTurn(role=_ROLES[turn.role], text=turn.text)
                for turn in history
            ],
            glossary=[
                rewriter_pb2.GlossaryEntry(term=entry.term, synonyms=entry.synonyms)
                for entry in glossary.entries
            ],
            glossary_version=glossary.version,
        )
        with errors_of("rewriter"):
            response = await self._stub.RewriteQuery(request, timeout=timeout)
        length = len(response.query.encode())
        if not response.query.strip() or length > MAX_QUERY_BYTES:
            raise Internal(
                f"the rewriter answered with a blank query or one that is too long: {length} bytes",
                reason="REWRITER_ANSWER_BROKEN",
            )
        return Rewrite(
            query=response.query,
            standalone_question=response.standalone_question or query,
            report=stage_report_from("rewrite", response.report),
            origin=_ORIGINS.get(response.origin, RewriteOrigin.ORIGINAL),
            dense_weight=_weight(response.dense_weight, is_set=response.HasField("dense_weight")),
            lexical_weight=_weight(
                response.lexical_weight, is_set=response.HasField("lexical_weight")
            ),
            unchanged_for_s=_finite(response.unchanged_for_s, "time without rewriting"),
        )


def _weight(given: float, *, is_set: bool) -> float:
    return _finite(given, "weight") if is_set else 1.0


def _finite(given: float, what: str) -> float:
    if not (math.isfinite(given) and given >= 0):
        raise Internal(
            f"the rewriter answered with a {what} that is none: {given}",
            reason="REWRITER_ANSWER_BROKEN",
        )
    return given
