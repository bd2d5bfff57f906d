"""Rewrites a query, or leaves it alone where there is too little to rewrite."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from rewriter_svc.rewriting import Rewrite, RewriteRequest, StageOutcome, StageReport, original
from rewriter_svc.usage import RewriteUsage


class Rewriter(Protocol):
    """Rewrites with a chat model, or by rules."""

    async def rewrite(self, request: RewriteRequest) -> Rewrite:
        """Returns a usable query in every case; the report says what happened."""


class QueryRewriter:
    """Hands queries of enough characters to the rewriter and counts and times what it does.

    The report's `latency_ms` is in milliseconds of `clock`, which counts in seconds.
    """

    def __init__(
        self,
        rewriter: Rewriter,
        usage: RewriteUsage,
        *,
        shortest_query_characters: int,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._rewriter = rewriter
        self._usage = usage
        self._shortest_query_characters = shortest_query_characters
        self._clock = clock

    async def rewrite(self, request: RewriteRequest) -> Rewrite:
        """Returns a usable query in every case; the report says what happened."""
        start = self._clock()
        if len(request.query.strip()) < self._shortest_query_characters:
            rewrite = original(request.query, self._too_short())
        else:
            rewrite = await self._rewriter.rewrite(request)
        self._usage.count(rewrite)
        latency_ms = (self._clock() - start) * 1000.0
        return replace(rewrite, report=replace(rewrite.report, latency_ms=latency_ms))

    def _too_short(self) -> StageReport:
        return StageReport(
            StageOutcome.SKIPPED,
            reason="TOO_SHORT",
            detail=f"queries under {self._shortest_query_characters} characters are not rewritten",
        )
