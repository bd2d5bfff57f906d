"""Rewriter, embedder and reranker in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from chassis.errors import Unavailable
from gateway.documents import FloatMatrix
from gateway.embedding import (
    EmbeddedText,
    EmbeddedTexts,
    EmbeddingPurpose,
    Provider,
    ProviderState,
)
from gateway.glossary.entry import NO_ENTRIES, MatchingEntries
from gateway.receipt import StageOutcome, StageReport
from gateway.reranking import Candidate, FormulaAlone, FormulaParts, RankedPassage, Ranking
from gateway.rewriting import ConversationTurn, Rewrite
from tests.fakes.gateway_services.behaviour import Behaviour
from tests.fakes.gateway_services.spaces import OTHER_SPACE, SPACE


@dataclass
class FakeRewriter:
    """Answers with `rewritten`, or with the query itself, and asks for a rest then."""

    rewritten: str = ""
    standalone: str = ""
    dense_weight: float = 1.0
    lexical_weight: float = 1.0
    unchanged_for_s: float = 0.0
    behaviour: Behaviour = field(default_factory=Behaviour)
    calls: list[tuple[str, str, tuple[ConversationTurn, ...]]] = field(default_factory=list)
    glossaries: list[MatchingEntries] = field(default_factory=list)

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
        """Implements the port."""
        self.calls.append((query, language, tuple(history)))
        self.glossaries.append(glossary)
        await self.behaviour.meet(timeout)
        if not self.rewritten:
            report = StageReport("rewrite", StageOutcome.SKIPPED, "NOT_CONFIGURED", "no model")
            return Rewrite(query, query, report, unchanged_for_s=self.unchanged_for_s)
        report = StageReport(
            "rewrite",
            StageOutcome.RAN,
            provider="fake",
            model="writer",
            input_token_count=30,
            output_token_count=7,
            cost=0.25,
            currency="EUR",
        )
        return Rewrite(
            self.rewritten,
            self.standalone or query,
            report,
            dense_weight=self.dense_weight,
            lexical_weight=self.lexical_weight,
        )


@dataclass
class FakeEmbedder:
    """Answers with vectors of the asked space's width; `lost_spaces` are UNAVAILABLE.

    All vectors of a space are equal, unless `vector_of` makes them from text and space id.
    """

    vector_of: Callable[[str, str], FloatMatrix] | None = None
    widths: dict[str, int] = field(
        default_factory=lambda: {s.space_id: s.dimension for s in (SPACE, OTHER_SPACE)}
    )
    lost_spaces: set[str] = field(default_factory=set)
    behaviour: Behaviour = field(default_factory=Behaviour)
    calls: list[tuple[tuple[str, ...], EmbeddingPurpose, str | None, str]] = field(
        default_factory=list
    )

    async def embed(
        self,
        texts: Sequence[str],
        purpose: EmbeddingPurpose,
        space_id: str | None = None,
        workspace: str = "",
        *,
        accept_failures: bool = False,
        canaries: Mapping[str, bytes] | None = None,
        timeout: float | None = None,
    ) -> EmbeddedTexts:
        """Implements the port."""
        self.calls.append((tuple(texts), purpose, space_id, workspace))
        await self.behaviour.meet(timeout)
        space_id = space_id or SPACE.space_id
        if space_id in self.lost_spaces:
            raise Unavailable("its provider does not answer", reason="PROVIDER_DOWN")
        if self.vector_of is not None:
            vectors = np.stack([self.vector_of(text, space_id) for text in texts])
        else:
            width = self.widths[space_id]
            vectors = np.full((len(texts), width), 1 / np.sqrt(width), dtype=np.float32)
        report = StageReport(
            "embed",
            StageOutcome.RAN,
            provider="fake",
            model="model",
            input_token_count=5 * len(texts),
            cost=0.125,
            currency="EUR",
        )
        return EmbeddedTexts(space_id, vectors, tuple(EmbeddedText(5) for _ in texts), report)

    async def describe_providers(self, *, timeout: float | None = None) -> tuple[Provider, ...]:
        """Implements the port."""
        await self.behaviour.meet(timeout)
        return (Provider("fake", "model", SPACE.space_id, 4, 512, 0.3, ProviderState.AVAILABLE),)

    def embedded(self) -> list[tuple[str, str | None]]:
        """Returns text and space of every embedded text."""
        return [(text, space_id) for texts, _, space_id, _ in self.calls for text in texts]


@dataclass
class FakeReranker:
    """Turns the order of the candidates round; `formula_alone` goes with each answer."""

    behaviour: Behaviour = field(default_factory=Behaviour)
    formula_alone: FormulaAlone | None = None
    reachable: bool = True
    calls: list[tuple[str, tuple[Candidate, ...], int]] = field(default_factory=list)

    async def rerank(
        self,
        question: str,
        candidates: Sequence[Candidate],
        *,
        workspace: str,
        model_candidate_count: int = 0,
        include_formula_parts: bool = False,
        timeout: float | None = None,
    ) -> Ranking:
        """Implements the port; parts, where asked for, say that the cosine is all."""
        self.calls.append((question, tuple(candidates), model_candidate_count))
        await self.behaviour.meet(timeout)
        order = [candidate.passage_id for candidate in reversed(candidates)]
        scores = [1 - place / 10 for place in range(len(order))]
        return Ranking(
            tuple(
                RankedPassage(
                    one,
                    score,
                    FormulaParts(SPACE.space_id, score, None, 1.0)
                    if include_formula_parts
                    else None,
                )
                for one, score in zip(order, scores, strict=True)
            ),
            StageReport("rerank", StageOutcome.RAN, provider="embedded", model="formula"),
            self.formula_alone,
        )

    def connected(self) -> bool:
        """Implements the port."""
        return self.reachable
