"""Puts the rewriter together and keeps it running."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import structlog

from chassis.cost_ledger import CostLedger
from chassis.mesh_identity import mesh_certificates
from chassis.metrics import Metrics, process_metrics
from chassis.server import RunningServer, running_server
from chat_models.catalogue import configured_chain
from chat_models.chain import ChatChain
from chat_models.connectivity import kept_ready
from rewriter_svc.language import load_language_data
from rewriter_svc.model_rewriter import ModelRewriter
from rewriter_svc.query_rewriter import QueryRewriter, Rewriter
from rewriter_svc.rewrite_cache import RewriteCache
from rewriter_svc.rule_rewriter import RuleRewriter
from rewriter_svc.servicer import RewriterServicer, served
from rewriter_svc.settings import RewriterSettings
from rewriter_svc.usage import usage_of

_log = structlog.get_logger("rewriter_svc.service")


@asynccontextmanager
async def running_rewriter(
    settings: RewriterSettings,
    *,
    chain: ChatChain | None = None,
    metrics: Metrics | None = None,
) -> AsyncIterator[RunningServer]:
    """Serves while inside; `chain` stands in for that of the settings, and is closed at the end.

    Ready whatever becomes of the chat models: without them queries stay as they are.
    """
    metrics = metrics or process_metrics()
    chain = chain or configured_chain(settings, metrics)
    if chain is not None or settings.keywords:
        await asyncio.to_thread(load_language_data)
    rewriter = QueryRewriter(
        _rewriter(settings, chain),
        usage_of(metrics),
        shortest_query_characters=settings.shortest_query_characters,
    )
    service = served(RewriterServicer(rewriter, settings.request_limits()))
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(
            running_server(
                [service],
                settings,
                metrics=metrics,
                certificates=mesh_certificates(settings, metrics),
            )
        )
        if chain is not None:
            await stack.enter_async_context(kept_ready(chain, settings.chat_check_interval_s))
        yield server


def _rewriter(settings: RewriterSettings, chain: ChatChain | None) -> Rewriter:
    if chain is None:
        _log.info("no chat model is named: the glossary alone rewrites queries")
        return RuleRewriter(
            keywords=settings.keywords, unchanged_for_s=settings.pause_without_model_s
        )
    cap = settings.daily_cost_cap
    return ModelRewriter(
        chain,
        RewriteCache(settings.cache_max_entries, settings.cache_ttl_s),
        CostLedger(None if cap is None else cap / settings.replicas),
        max_output_tokens=settings.max_output_tokens,
        weights=settings.list_weights(),
    )
