"""Answers requests: embeds with the chain, counts tokens and costs, and forgets on demand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from chassis.cost_ledger import CostLedger
from chassis.deadline import Deadline
from chassis.errors import FieldViolation, InvalidArgument
from embedder_svc.chain import ProviderChain
from embedder_svc.chain_link import Embedding, ProviderDescription, ProviderState
from embedder_svc.embedding import EmbeddedText, EmbeddingPurpose, Vectors
from embedder_svc.providers.protocol import UnconfiguredProvider
from embedder_svc.spaces import VectorSpace
from embedder_svc.usage import Usage
from embedder_svc.vector_cache import VectorCache


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """Texts to embed: 1 to 256, non-blank; into the given space, or any if it is None.

    `workspace` is whom tokens and costs are counted for; empty stands for none. Texts that the
    provider cannot embed, or that are longer than its input, are an error unless `accept_failures`
    and not `refuse_long_texts`. `kept_canaries`, d, float32, norm 1, stand by space id.
    """

    texts: tuple[str, ...]
    purpose: EmbeddingPurpose
    space: VectorSpace | None = None
    workspace: str = ""
    accept_failures: bool = False
    refuse_long_texts: bool = False
    kept_canaries: Mapping[str, Vectors] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """Texts whose vectors are to be dropped; all texts if `everything`."""

    texts: tuple[str, ...]
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Embedder:
    """The embedder as its servicer sees it."""

    chain: ProviderChain
    unconfigured: tuple[tuple[int, UnconfiguredProvider], ...]
    usage: Usage
    costs: CostLedger
    cache: VectorCache

    async def embed(self, request: EmbeddingRequest, deadline: Deadline | None) -> Embedding:
        """Embeds the texts of a request; raises what the chain raises.

        Raises InvalidArgument naming the texts that failed, or were too long, where the request
        does not put up with them.
        """
        embedding = await self.chain.embed(
            request.texts,
            request.purpose,
            space=request.space,
            deadline=deadline,
            may_pay=self.costs.may_pay(request.workspace),
            kept_canaries=request.kept_canaries,
        )
        self.costs.add(request.workspace, embedding.cost or 0.0)
        self.usage.count(embedding, request.purpose, request.workspace)
        texts = embedding.batch.texts
        if not request.accept_failures:
            _require(texts, lambda text: text.failure)
        if request.refuse_long_texts:
            _require(texts, _too_long)
        return embedding

    def describe_providers(self) -> list[ProviderDescription]:
        """Describes the providers in chain order, those that are not configured among them."""
        descriptions = self.chain.describe()
        for place, provider in self.unconfigured:
            descriptions.insert(place, _unconfigured(provider))
        return descriptions

    def forget(self, request: ForgetRequest) -> int:
        """Drops cached vectors; returns how many."""
        if request.everything:
            return self.cache.forget_all()
        return self.cache.forget(request.texts)


def _unconfigured(provider: UnconfiguredProvider) -> ProviderDescription:
    return ProviderDescription(
        provider.name,
        provider.model,
        provider.space,
        provider.limits,
        ProviderState.NOT_CONFIGURED,
        provider.missing,
        None,
    )


def _too_long(text: EmbeddedText) -> str:
    return f"has {text.token_count} tokens, more than the model takes" if text.sliced else ""


def _require(texts: Sequence[EmbeddedText], problem_of: Callable[[EmbeddedText], str]) -> None:
    violations = [
        FieldViolation(f"texts[{at}]", f"texts[{at}]: {problem}")
        for at, text in enumerate(texts)
        if (problem := problem_of(text))
    ]
    if violations:
        raise InvalidArgument(
            violations[0].description, violations=violations, reason="TEXT_NOT_EMBEDDED"
        )
