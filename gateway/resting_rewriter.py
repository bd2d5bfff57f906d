"""A rewriter that is left alone while it has said that it has nothing to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chassis.clock import Clock, monotonic
from gateway.glossary.entry import NO_ENTRIES, MatchingEntries
from gateway.ports import Rewriter
from gateway.receipt import StageReport
from gateway.rewriting import ConversationTurn, Rewrite

LONGEST_REST_S = 60.0
"""Whatever a rewriter says, it is asked again after so many seconds."""


class RestingRewriter:
    """Implements the `Rewriter` port over another one.

    A mesh without a chat model would else spend a hop of every search on hearing so. While the
    rewriter rests, queries come back unchanged with the report that announced it, at 0 ms; those
    with glossary entries are rewritten all the same.
    """

    def __init__(self, rewriter: Rewriter, *, clock: Clock = monotonic) -> None:
        self._rewriter = rewriter
        self._clock = clock
        self._rests_until = clock()
        self._report: StageReport | None = None

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
        """Rewrites one query; errors are those of the rewriter."""
        told = bool(glossary.entries)
        if not told and self._report is not None and self._clock() < self._rests_until:
            return Rewrite(query, query, self._report)
        rewrite = await self._rewriter.rewrite(
            query,
            workspace=workspace,
            language=language,
            history=history,
            glossary=glossary,
            timeout=timeout,
        )
        if not told:
            self._rests_until = self._clock() + min(rewrite.unchanged_for_s, LONGEST_REST_S)
            self._report = replace(rewrite.report, latency_ms=0.0)
        return rewrite
