"""Which names of the settings stand for which provider, and which of them are configured."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import structlog

from chassis.circuit_breaker import CircuitBreaker
from chassis.vendor_connection import Connection, Timing
from embedder_svc.hosted.model import HostedModel
from embedder_svc.hosted.provider import HostedProvider, limits_of
from embedder_svc.prefixes import NO_PREFIXES, Prefixes
from embedder_svc.providers import (
    deterministic,
    embedded,
    mistral,
    model_folder,
    ollama,
    openai_compatible,
    voyage,
)
from embedder_svc.providers.protocol import EmbeddingProvider, UnconfiguredProvider
from embedder_svc.settings import EmbedderSettings

_log = structlog.get_logger("embedder_svc.catalogue")

Builder = Callable[[EmbedderSettings], EmbeddingProvider]
NewBreaker = Callable[[str], CircuitBreaker]
HostedBuilder = Callable[[Connection, HostedModel, CircuitBreaker, Timing], HostedProvider]


IN_PROCESS: Mapping[str, Builder] = {
    embedded.NAME: lambda _settings: embedded.embedded_provider(),
    deterministic.NAME: lambda settings: deterministic.deterministic_provider(
        settings.deterministic_dimension
    ),
    model_folder.NAME: lambda settings: model_folder.model_folder_provider(settings.folder_model()),
}
HOSTED: Mapping[str, HostedBuilder] = {
    mistral.NAME: mistral.mistral_provider,
    voyage.NAME: voyage.voyage_provider,
    ollama.NAME: ollama.ollama_provider,
}
_MISSING = {
    mistral.NAME: "MISTRAL_API_KEY is not set",
    voyage.NAME: "VOYAGE_API_KEY is not set",
    ollama.NAME: "OLLAMA_HOST is not set",
    openai_compatible.NAME: "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set",
}


def configured_providers(
    settings: EmbedderSettings, new_breaker: NewBreaker = CircuitBreaker
) -> list[EmbeddingProvider | UnconfiguredProvider]:
    """Builds the providers of the chain, in its order; names those that are not configured."""
    providers: list[EmbeddingProvider | UnconfiguredProvider] = []
    for name in settings.providers:
        if name in IN_PROCESS:
            providers.append(IN_PROCESS[name](settings))
        else:
            providers.append(_hosted(name, settings, new_breaker))
    return providers


def _hosted(
    name: str, settings: EmbedderSettings, new_breaker: NewBreaker
) -> HostedProvider | UnconfiguredProvider:
    model = _hosted_model(name, settings)
    connection = settings.connection(name)
    if connection is None:
        _log.info("provider is not configured", provider=name, missing=_MISSING[name])
        return UnconfiguredProvider(
            name, model.name, model.space(name), limits_of(model), _MISSING[name]
        )
    if name == openai_compatible.NAME:
        return openai_compatible.openai_compatible_provider(
            connection, model, new_breaker(name), Timing(), settings.openai_encoding
        )
    return HOSTED[name](connection, model, new_breaker(name), Timing())


def _hosted_model(name: str, settings: EmbedderSettings) -> HostedModel:
    if name == mistral.NAME:
        return mistral.MODELS[settings.mistral_model]
    if name == voyage.NAME:
        return voyage.MODELS[settings.voyage_model]
    if name == ollama.NAME:
        known = ollama.MODELS.get(settings.ollama_model)
        return known or ollama.other_model(settings.ollama_model, settings.ollama_dimension or 0)
    return _openai_model(settings)


def _openai_model(settings: EmbedderSettings) -> HostedModel:
    known, dimension = (
        openai_compatible.MODELS.get(settings.openai_model),
        settings.openai_dimension,
    )
    if known is None:
        model = openai_compatible.other_model(settings.openai_model, dimension or 0)
    else:
        model = known if dimension is None else openai_compatible.shortened(known, dimension)
    prefixes = Prefixes(settings.openai_query_prefix, settings.openai_document_prefix)
    if prefixes == NO_PREFIXES:
        return model
    return replace(model, prefixes=prefixes, prefix_scheme=f"own-{prefixes.digest}")
