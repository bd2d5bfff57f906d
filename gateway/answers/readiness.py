"""The chat models that write answers, kept ready."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from chassis.cost_ledger import CostLedger
from chassis.metrics import Metrics
from chat_models.catalogue import configured_chain
from chat_models.connectivity import kept_ready
from gateway.answers.languages import load_language_data
from gateway.answers.model_attempt import AnswerModels
from gateway.settings import GatewaySettings


@asynccontextmanager
async def answer_models(
    settings: GatewaySettings, metrics: Metrics
) -> AsyncIterator[AnswerModels | None]:
    """Gives the models of the settings, ready while inside; None where they name none.

    What languages are told by is there afterwards, too: questions need it also without a model.
    """
    chain = configured_chain(settings, metrics)
    await asyncio.to_thread(load_language_data)
    if chain is None:
        yield None
        return
    cap = settings.daily_cost_cap
    costs = CostLedger(None if cap is None else cap / settings.replicas)
    async with kept_ready(chain, settings.chat_check_interval_s):
        yield AnswerModels(chain, costs, settings.answer_idle_s)
