"""Answers requests: embeds with the chain and counts the tokens."""

from dataclasses import dataclass

from chassis.deadline import Deadline
from embedder_svc.chain import ProviderChain
from embedder_svc.chain_link import Embedding, ProviderDescription
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.spaces import VectorSpace
from embedder_svc.token_usage import TokenUsage


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """Texts to embed: 1 to 256, non-blank; into the given space, or any if it is None.

    `workspace` is whom the tokens are counted for; empty counts them for none.
    """

    texts: tuple[str, ...]
    purpose: EmbeddingPurpose
    space: VectorSpace | None = None
    workspace: str = ""


@dataclass(frozen=True, slots=True)
class Embedder:
    """The embedder as its servicer sees it."""

    chain: ProviderChain
    usage: TokenUsage

    async def embed(self, request: EmbeddingRequest, deadline: Deadline | None) -> Embedding:
        """Embeds the texts of a request; raises what the chain raises."""
        embedding = await self.chain.embed(
            request.texts, request.purpose, space=request.space, deadline=deadline
        )
        self.usage.count(
            embedding.batch.token_count,
            provider=embedding.provider,
            model=embedding.model,
            purpose=request.purpose.value,
            workspace=request.workspace,
        )
        return embedding

    def describe_providers(self) -> list[ProviderDescription]:
        """Describes the providers in chain order."""
        return self.chain.describe()
