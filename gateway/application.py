"""What both doors serve, gRPC and HTTP."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.access.access import Access
from gateway.access.keys import Keys
from gateway.access.permitted_documents import PermittedDocuments
from gateway.admission.admission import UNBOUNDED, Admission
from gateway.admission.admitted_jobs import AdmittedJobs
from gateway.admission.floodgate import AdmissionFloodgate
from gateway.answers.answer_metrics import AnswerMetrics
from gateway.answers.answers import Answers
from gateway.answers.checking.checked_answer import UnsupportedPolicy
from gateway.answers.evidence.decision import Strictness
from gateway.answers.model_attempt import AnswerModels
from gateway.answers.parts import AnswerParts
from gateway.archives.archives import Archives
from gateway.catalogue import Catalogue
from gateway.contexts import Contexts
from gateway.glossary.board import GlossaryBoard
from gateway.glossary.glossaries import Glossaries
from gateway.ingestion_ports import DocumentJobs, Ingestion
from gateway.known_workspaces import KnownWorkspaces
from gateway.mesh import Mesh
from gateway.pace import Pace
from gateway.ports import Embedder, Retriever, Rewriter
from gateway.query_vectors import QueryVectors
from gateway.reembedding import Reembedding
from gateway.resting_reranker import ConnectedReranker, RestingReranker
from gateway.resting_rewriter import RestingRewriter
from gateway.search_explanations import SearchExplanations
from gateway.searches import Searches
from gateway.space_work import SpaceWork
from gateway.stage_calls import SearchParts
from gateway.stage_metrics import StageMetrics
from gateway.switches.editing import SwitchEditing
from gateway.switches.switching import Switching
from gateway.uploads import MAX_FILE_BYTES, Uploads


@dataclass(frozen=True, slots=True)
class Services:
    """The services behind the gateway."""

    rewriter: Rewriter
    embedder: Embedder
    retriever: Retriever
    reranker: ConnectedReranker
    ingestion: Ingestion
    jobs: DocumentJobs
    reembedding: Reembedding


@dataclass(frozen=True, slots=True)
class Application:
    """The gateway's work, by concern."""

    floodgate: AdmissionFloodgate
    pace: Pace
    searches: Searches
    explanations: SearchExplanations
    contexts: Contexts
    answers: Answers
    catalogue: Catalogue
    uploads: Uploads
    jobs: DocumentJobs
    spaces: SpaceWork
    glossaries: Glossaries
    archives: Archives
    switches: Switching
    switch_editing: SwitchEditing
    mesh: Mesh
    access: Access
    keys: Keys


def assembled(
    services: Services,
    switches: Switching,
    glossaries: GlossaryBoard,
    mesh: Mesh,
    access: Access,
    keys: Keys,
    *,
    queries: Admission | None = None,
    ingestion: Admission | None = None,
    answering: Admission | None = None,
    models: AnswerModels | None = None,
    unsupported: UnsupportedPolicy = UnsupportedPolicy.MARK,
    answer_metrics: AnswerMetrics | None = None,
    strictness: Strictness = Strictness.BALANCED,
    vector_capacity: int = 4096,
    vector_ttl_s: float = 600.0,
    max_file_bytes: int = MAX_FILE_BYTES,
    pace: Pace | None = None,
    stage_metrics: StageMetrics | None = None,
) -> Application:
    """Returns the application over the given services; by default it lets everybody in."""
    known = KnownWorkspaces(services.retriever)
    vectors = QueryVectors(services.embedder, capacity=vector_capacity, ttl_s=vector_ttl_s)
    parts = SearchParts(
        RestingRewriter(services.rewriter),
        services.retriever,
        RestingReranker(services.reranker),
        vectors,
        known,
        glossaries,
    )
    queries = queries or Admission(UNBOUNDED)
    searches = Searches(parts, switches, queries, stage_metrics)
    switch_editing = SwitchEditing(switches, services.retriever)
    catalogue = Catalogue(
        services.retriever, services.ingestion, known, vectors, glossaries, switch_editing
    )
    glossary_editing = Glossaries(glossaries, services.retriever)
    return Application(
        floodgate=AdmissionFloodgate(queries),
        pace=pace or Pace(),
        searches=searches,
        explanations=SearchExplanations(searches, services.retriever),
        contexts=Contexts(searches),
        answers=Answers(
            AnswerParts(searches, models, unsupported, strictness),
            answering or Admission(UNBOUNDED),
            answer_metrics,
        ),
        catalogue=catalogue,
        uploads=Uploads(
            services.ingestion,
            PermittedDocuments(services.retriever),
            max_bytes=max_file_bytes,
            admission=ingestion,
        ),
        jobs=services.jobs if ingestion is None else AdmittedJobs(services.jobs, ingestion),
        spaces=SpaceWork(services.reembedding, services.retriever),
        glossaries=glossary_editing,
        archives=Archives(
            services.retriever, catalogue, glossaries, glossary_editing, switch_editing
        ),
        switches=switches,
        switch_editing=switch_editing,
        mesh=mesh,
        access=access,
        keys=keys,
    )
