"""The gateway's application over fakes, to be served by either door."""

from __future__ import annotations

from dataclasses import dataclass, field

from gateway.access.access import Access
from gateway.access.key_ring import KeyRing
from gateway.access.keys import Keys
from gateway.admission.admission import Admission
from gateway.answers.checking.checked_answer import UnsupportedPolicy
from gateway.answers.model_attempt import AnswerModels
from gateway.application import Application, Services, assembled
from gateway.glossary.board import GlossaryBoard
from gateway.mesh import Mesh, WatchedService
from gateway.pace import Pace
from gateway.switches.switching import Switching
from tests.fakes.gateway_services.glossary import FakeGlossaryStore
from tests.fakes.gateway_services.jobs import FakeJobs
from tests.fakes.gateway_services.keys import FakeKeyStore
from tests.fakes.gateway_services.models import FakeEmbedder, FakeReranker, FakeRewriter
from tests.fakes.gateway_services.passages import stored_document
from tests.fakes.gateway_services.retriever import FakeRetriever
from tests.fakes.gateway_services.roles import FakeHealth, FakeIngestion, FakeReembedding
from tests.fakes.gateway_services.switch_database import SwitchDatabase
from tests.fakes.gateway_services.switch_rules import FakeRuleStore

SERVICE_NAMES = ("rewriter", "embedder", "retriever", "reranker", "ingestion")


@dataclass
class MeshOfFakes:
    """Workspace "negoce" with three documents, and every service at hand."""

    database: SwitchDatabase
    max_file_bytes: int = 1_000_000
    queries: Admission | None = None
    ingestion_places: Admission | None = None
    pace: Pace | None = None
    answering: Admission | None = None
    models: AnswerModels | None = None
    unsupported: UnsupportedPolicy = UnsupportedPolicy.MARK
    rewriter: FakeRewriter = field(default_factory=FakeRewriter)
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)
    retriever: FakeRetriever = field(default_factory=FakeRetriever)
    reranker: FakeReranker = field(default_factory=FakeReranker)
    ingestion: FakeIngestion = field(default_factory=FakeIngestion)
    jobs: FakeJobs = field(default_factory=FakeJobs)
    reembedding: FakeReembedding = field(default_factory=FakeReembedding)
    glossary_store: FakeGlossaryStore = field(default_factory=FakeGlossaryStore)
    key_store: FakeKeyStore = field(default_factory=FakeKeyStore)
    rule_store: FakeRuleStore = field(default_factory=FakeRuleStore)
    health: dict[str, FakeHealth] = field(
        default_factory=lambda: {name: FakeHealth() for name in SERVICE_NAMES}
    )

    def __post_init__(self) -> None:
        self.retriever.add_workspace("negoce")
        for external_id in ("a.md", "b/c d.md", "é.md"):
            stored = stored_document(external_id, "Premier.", "Second.")
            self.retriever.documents["negoce", external_id] = stored
        self.switches = Switching(self.database.board(), self.rule_store)
        self.glossaries = GlossaryBoard(self.glossary_store)
        self.key_ring = KeyRing(self.key_store, pause_s=0.0)

    def application(self) -> Application:
        """Returns the application."""
        services = Services(
            self.rewriter,
            self.embedder,
            self.retriever,
            self.reranker,
            self.ingestion,
            self.jobs,
            self.reembedding,
        )
        watched = [
            WatchedService(name, f"{name}.test:1", health) for name, health in self.health.items()
        ]
        mesh = Mesh(watched, self.embedder, timeout_s=0.1)
        return assembled(
            services,
            self.switches,
            self.glossaries,
            mesh,
            Access(self.key_ring),
            Keys(self.key_store, self.key_ring),
            queries=self.queries,
            ingestion=self.ingestion_places,
            answering=self.answering,
            models=self.models,
            unsupported=self.unsupported,
            max_file_bytes=self.max_file_bytes,
            pace=self.pace,
        )
