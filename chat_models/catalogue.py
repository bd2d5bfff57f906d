"""Builds the chain that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import structlog

from chassis.breaker_metrics import breaker_metrics_of
from chassis.circuit_breaker import BreakerState, CircuitBreaker
from chassis.metrics import Metrics
from chassis.vendor_connection import Connection, Timing
from chat_models import mistral, ollama, openai_compatible
from chat_models.chain import ChatChain
from chat_models.hosted import HostedChat
from chat_models.model_card import ModelCard
from chat_models.settings import ChatSettings
from chat_models.usage import usage_of

_log = structlog.get_logger("chat_models.catalogue")

Builder = Callable[[Connection, ModelCard, CircuitBreaker, Timing], HostedChat]

BUILDERS: Mapping[str, Builder] = {
    mistral.NAME: mistral.mistral_chat,
    openai_compatible.NAME: openai_compatible.openai_compatible_chat,
    ollama.NAME: ollama.ollama_chat,
}


def configured_chain(settings: ChatSettings, metrics: Metrics) -> ChatChain | None:
    """Returns the chain of the settings, None where they name no model."""
    cards = settings.cards()
    models = []
    for provider, name in settings.chat_model_names:
        connection = settings.chat_connection(provider)
        assert connection is not None
        breaker = CircuitBreaker(
            f"{provider}/{name}",
            threshold=settings.chat_breaker_threshold,
            open_s=settings.chat_breaker_open_s,
            on_change=_log_change,
        )
        breaker_metrics_of(metrics).watch(breaker)
        models.append(BUILDERS[provider](connection, cards.card(provider, name), breaker, Timing()))
    return ChatChain(models, usage_of(metrics)) if models else None


def _log_change(model: str, old: BreakerState, new: BreakerState) -> None:
    _log.warning("chat model state changed", model=model, old=old.value, new=new.value)
