"""A search over fakes, with everything that can be turned at hand."""

from __future__ import annotations

from dataclasses import dataclass, field

from chassis.clock import Clock, monotonic
from chassis.deadline import Deadline
from gateway.glossary.board import GlossaryBoard
from gateway.known_workspaces import KnownWorkspaces
from gateway.pipeline import STAGE_ORDER, Retrieval, find_passages
from gateway.query_vectors import QueryVectors
from gateway.questions import Question
from gateway.receipt import StageReport
from gateway.stage_calls import SearchParts
from gateway.stages import Stages
from gateway.switches.values import SwitchValues
from tests.fakes.gateway_services.glossary import FakeGlossaryStore
from tests.fakes.gateway_services.models import FakeEmbedder, FakeReranker, FakeRewriter
from tests.fakes.gateway_services.retriever import FakeRetriever


@dataclass
class Bench:
    """Runs questions to workspace "negoce" over fakes."""

    rewriter: FakeRewriter = field(default_factory=FakeRewriter)
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)
    retriever: FakeRetriever = field(default_factory=FakeRetriever)
    reranker: FakeReranker = field(default_factory=FakeReranker)
    glossary_store: FakeGlossaryStore = field(default_factory=FakeGlossaryStore)
    switches: SwitchValues = field(default_factory=SwitchValues)
    clock: Clock = monotonic
    deadline_s: float = 30.0
    reports: dict[str, StageReport] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.retriever.add_workspace("negoce")
        self.vectors = QueryVectors(self.embedder)
        self.known = KnownWorkspaces(self.retriever)
        self.glossaries = GlossaryBoard(self.glossary_store)
        self.stages = Stages(Deadline.after(1.0), STAGE_ORDER)

    async def ask(self, query: str = "retards à Marseille", **options: object) -> Retrieval:
        """Asks one question; `reports` holds what its stages did."""
        parts = SearchParts(
            self.rewriter,
            self.retriever,
            self.reranker,
            self.vectors,
            self.known,
            self.glossaries,
        )
        self.stages = Stages(Deadline.after(self.deadline_s, self.clock), STAGE_ORDER)
        question = Question("negoce", query, **options)  # type: ignore[arg-type] # by field name
        try:
            return await find_passages(parts, question, self.switches, self.stages)
        finally:
            self.reports = {report.stage: report for report in self.stages.reports()}

    def outcomes(self) -> dict[str, str]:
        """Returns the outcome of each stage of the last question."""
        return {stage: report.outcome.name for stage, report in self.reports.items()}


def ids(retrieval: Retrieval) -> list[str]:
    """Returns the passage ids in the order of the hits."""
    return [hit.fused.passage_id for hit in retrieval.hits]
