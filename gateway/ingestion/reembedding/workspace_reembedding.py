"""Embeds a workspace into another space beside the present one, then switches to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

import structlog

from chassis.errors import (
    FailedPrecondition,
    InvalidArgument,
    ServiceError,
    Unavailable,
)
from gateway.embedding import Provider, ProviderState
from gateway.ingestion.movers.space_filling import FilledBatch, SpaceFilling
from gateway.ingestion.movers.space_leases import SpaceBusy
from gateway.ingestion.passage_store import PassageStore
from gateway.ingestion.reembedding.space_comparison import SpaceComparison
from gateway.ports import Embedder
from gateway.receipt import StageReport, sum_costs
from gateway.reembedding import (
    ReembeddingEvent,
    ReembeddingOutcome,
    ReembeddingPlan,
    ReembeddingProgress,
    ReembeddingRequest,
)
from gateway.workspaces import Workspace

_log = structlog.get_logger("gateway.ingestion.reembedding")

_TIMEOUT_S = 30.0
_PAUSES_S = (1.0, 2.0, 4.0, 8.0, 16.0)
"""A process of the mesh that died is started again within seconds."""
_MOST_ROUNDS = 20


@dataclass(slots=True)
class _Tally:
    """What a call has done so far."""

    passage_count: int
    done: int
    refused: int = 0
    reports: list[StageReport] = field(default_factory=list)

    def add(self, batch: FilledBatch) -> None:
        self.done += batch.stored_count
        self.refused += batch.refused_count
        self.reports.extend(batch.reports)

    def progress(self) -> ReembeddingProgress:
        costs = sum_costs(self.reports)
        return ReembeddingProgress(
            self.done,
            self.passage_count,
            self.refused,
            sum(report.input_token_count for report in self.reports),
            costs[0].amount if len(costs) == 1 else None,
            costs[0].currency if len(costs) == 1 else "",
        )


@dataclass(frozen=True, slots=True)
class WorkspaceReembedding:
    """Implements the `Reembedding` port.

    `new_filling` returns what fills spaces under a holder of its own; `windowed` says whether
    passages will get windows in the space of a provider. `pause` waits for seconds.
    """

    store: PassageStore
    embedder: Embedder
    new_filling: Callable[[], SpaceFilling]
    windowed: Callable[[Provider], bool] = lambda provider: provider.windows_recommended
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def reembed(self, request: ReembeddingRequest) -> AsyncGenerator[ReembeddingEvent, None]:
        """Tells the plan, progress after each batch, the verdict of the gate, and the outcome."""
        workspace = await self.store.describe_workspace(request.workspace, timeout=_TIMEOUT_S)
        providers = await self.embedder.describe_providers(timeout=_TIMEOUT_S)
        provider = _usable(_chosen(request.target, providers))
        plan = await self._plan(workspace, provider, providers)
        yield plan
        if request.dry_run:
            return
        if not workspace.passage_count:
            raise FailedPrecondition(
                f"workspace {workspace.slug} holds no passages", reason="NOTHING_TO_EMBED"
            )
        tally = _Tally(plan.passage_count, plan.passage_count - plan.awaiting_passage_count)
        async with aclosing(self._fill(workspace, plan.space_id, tally)) as filling:
            async for progress in filling:
                yield progress
        objection = "keeping the preferred space was asked for" if request.keep_preferred else ""
        if request.gate is not None and plan.preferred_space_id not in ("", plan.space_id):
            verdict = await SpaceComparison(self.embedder, self.store).verdict(
                workspace, plan.preferred_space_id, plan.space_id, request.gate
            )
            yield verdict
            objection = objection or verdict.detail
        yield await self._outcome(workspace, plan.space_id, tally, objection)

    async def _plan(
        self, workspace: Workspace, provider: Provider, providers: Sequence[Provider]
    ) -> ReembeddingPlan:
        page = await self.store.list_passages_awaiting(
            workspace.slug, provider.space_id, 1, timeout=_TIMEOUT_S
        )
        # Windows hold every sentence of a passage once more.
        factor = _token_ratio(workspace, provider, providers) * (1 + self.windowed(provider))
        tokens = round(page.awaiting_token_estimate * factor)
        price = provider.price_per_million_tokens
        return ReembeddingPlan(
            workspace.preferred_space_id,
            provider.space_id,
            provider.name,
            provider.model,
            workspace.passage_count,
            page.awaiting_passage_count,
            tokens,
            None if price is None else tokens * price / 1e6,
            provider.currency,
        )

    async def _fill(
        self, workspace: Workspace, space_id: str, tally: _Tally
    ) -> AsyncGenerator[ReembeddingProgress, None]:
        """Fills until nothing lacks but what the model refuses.

        Where passages come in as fast as they are embedded, the last of them are left to the
        movers. Rounds that were cut short do not count: they end at the first without progress.
        """
        filling = self.new_filling()
        failures = rounds = 0
        while rounds < _MOST_ROUNDS:
            try:
                batches = filling.fill(workspace, space_id, leave_others=False)
                async with aclosing(batches):
                    async for batch in batches:
                        tally.add(batch)
                        failures = 0
                        yield tally.progress()
                page = await self.store.list_passages_awaiting(
                    workspace.slug, space_id, 1, timeout=_TIMEOUT_S
                )
                if page.awaiting_passage_count <= tally.refused:
                    return
                rounds += 1
            except ServiceError as error:
                if failures == len(_PAUSES_S) or not _passes(error):
                    raise
                _log.warning("reembedding interrupted", reason=error.reason, error=str(error))
                pause = _PAUSES_S[failures]
                await self.pause(error.remaining_s if isinstance(error, SpaceBusy) else pause)
                failures += 1

    async def _outcome(
        self, workspace: Workspace, space_id: str, tally: _Tally, objection: str
    ) -> ReembeddingOutcome:
        previous = workspace.preferred_space_id
        if objection or previous == space_id:
            return ReembeddingOutcome(
                switched=False,
                previous_space_id=previous,
                preferred_space_id=previous,
                refused_passage_count=tally.refused,
                detail=objection or "the space is the preferred one already",
            )
        switch = await self.store.switch_space(workspace.slug, space_id, timeout=_TIMEOUT_S)
        _log.info(
            "workspace switched",
            workspace=workspace.slug,
            previous_space_id=switch.previous_space_id,
            space_id=space_id,
            awaiting=switch.awaiting_passage_count,
        )
        return ReembeddingOutcome(
            switched=True,
            previous_space_id=switch.previous_space_id,
            preferred_space_id=space_id,
            refused_passage_count=tally.refused,
        )


def _chosen(wanted: str, providers: Sequence[Provider]) -> Provider:
    for provider in providers:
        if wanted in (provider.space_id, provider.name):
            return provider
        if not wanted and provider.state is ProviderState.AVAILABLE:
            return provider
    known = ", ".join(f"{provider.name} ({provider.space_id})" for provider in providers)
    if not wanted:
        raise Unavailable(f"no embedding provider answers; there are {known or 'none'}")
    raise InvalidArgument(
        f"no provider and no space is called {wanted!r}; there are {known or 'none'}",
        field="space_id",
        reason="SPACE_NOT_SERVED",
    )


def _usable(provider: Provider) -> Provider:
    if provider.state is ProviderState.NOT_CONFIGURED:
        raise FailedPrecondition(
            f"provider {provider.name} is not configured: {provider.last_error}",
            reason="PROVIDER_NOT_CONFIGURED",
        )
    if provider.state is ProviderState.DRIFTED:
        raise FailedPrecondition(
            f"the model of provider {provider.name} has changed: {provider.last_error}",
            reason="SPACE_DRIFTED",
        )
    if provider.state is ProviderState.UNAVAILABLE:
        raise Unavailable(
            f"provider {provider.name} does not answer: {provider.last_error}",
            reason="PROVIDER_UNAVAILABLE",
        )
    return provider


def _token_ratio(workspace: Workspace, provider: Provider, providers: Sequence[Provider]) -> float:
    """Returns how many tokens of the provider a stored token is: passages were measured for the
    provider of the preferred space."""
    rate = provider.tokens_per_character
    measured = (p for p in providers if p.space_id == workspace.preferred_space_id)
    stored_rate = next((p.tokens_per_character for p in measured), rate)
    return rate / stored_rate if rate > 0 and stored_rate > 0 else 1.0


def _passes(error: ServiceError) -> bool:
    """Whether waiting may help: a process that starts again, or a lease that runs out."""
    return isinstance(error, (Unavailable, SpaceBusy)) or error.reason == "LEASE_NOT_HELD"
