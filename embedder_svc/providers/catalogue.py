"""Which names of the settings stand for which provider."""

from collections.abc import Callable, Mapping

from embedder_svc.providers import deterministic, embedded
from embedder_svc.providers.protocol import EmbeddingProvider
from embedder_svc.settings import EmbedderSettings

Builder = Callable[[EmbedderSettings], EmbeddingProvider]

BUILDERS: Mapping[str, Builder] = {
    embedded.NAME: lambda _settings: embedded.embedded_provider(),
    deterministic.NAME: lambda settings: deterministic.deterministic_provider(
        settings.deterministic_dimension
    ),
}


def configured_providers(settings: EmbedderSettings) -> list[EmbeddingProvider]:
    """Builds the providers of the chain, in its order."""
    return [BUILDERS[name](settings) for name in settings.providers]
