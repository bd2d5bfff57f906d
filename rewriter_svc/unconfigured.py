"""The rewriter of a mesh without a chat model."""

from rewriter_svc.rewriting import Rewrite, RewriteRequest, StageOutcome, StageReport, original

_NOT_CONFIGURED = StageReport(
    StageOutcome.SKIPPED,
    reason="NOT_CONFIGURED",
    detail="no chat model is configured, so the query is searched as it was asked",
)


class UnconfiguredRewriter:
    """Gives every query back unchanged and says why."""

    async def rewrite(self, request: RewriteRequest) -> Rewrite:
        """Returns the original query, report SKIPPED with the reason NOT_CONFIGURED."""
        return original(request.query, _NOT_CONFIGURED)
