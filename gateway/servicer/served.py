"""Every service of the gateway's contract, ready to be served."""

from __future__ import annotations

from functools import partial

from chassis.server import ServedService
from gateway.answers.answers import DEFAULT_DEADLINE_S as ANSWER_DEADLINE_S
from gateway.application import Application
from gateway.search_explanations import DEFAULT_DEADLINE_S as EXPLANATION_DEADLINE_S
from gateway.searches import DEFAULT_DEADLINE_S
from gateway.servicer.answers import AnswerServicer
from gateway.servicer.context import ContextServicer
from gateway.servicer.documents import DocumentServicer
from gateway.servicer.explanations import ExplanationServicer
from gateway.servicer.glossary import GlossaryServicer
from gateway.servicer.ingestion import IngestionServicer
from gateway.servicer.jobs import JobServicer
from gateway.servicer.keys import KeyServicer
from gateway.servicer.mesh import MeshServicer
from gateway.servicer.search import SearchServicer
from gateway.servicer.spaces import SpaceServicer
from gateway.servicer.switches import SwitchServicer
from gateway.servicer.transfers import TransferServicer
from gateway.servicer.workspaces import WorkspaceServicer
from justesse.gateway.v1 import (
    answers_pb2_grpc,
    context_pb2_grpc,
    documents_pb2_grpc,
    explanations_pb2_grpc,
    glossary_pb2_grpc,
    ingestion_pb2_grpc,
    jobs_pb2_grpc,
    keys_pb2_grpc,
    mesh_pb2_grpc,
    search_pb2_grpc,
    spaces_pb2_grpc,
    switches_pb2_grpc,
    transfers_pb2_grpc,
    workspaces_pb2_grpc,
)

PACKAGE = "justesse.gateway.v1"


def served_services(application: Application) -> list[ServedService]:
    """Returns all services over one application.

    Where the caller sets no deadline, a search and a context have 5 s, an explanation 30 s, an
    answer 60 s, files, archives and work on spaces take as long as they take, and everything else
    has the server's default.
    """
    search = SearchServicer(application.searches)
    answers = AnswerServicer(application.answers)
    explanations = ExplanationServicer(application.explanations)
    contexts = ContextServicer(application.contexts)
    workspaces = WorkspaceServicer(application.catalogue)
    documents = DocumentServicer(application.catalogue)
    ingestion = IngestionServicer(application.uploads, application.pace)
    jobs = JobServicer(application.jobs, pace=application.pace)
    spaces = SpaceServicer(application.spaces)
    transfers = TransferServicer(application.archives, application.pace)
    glossary = GlossaryServicer(application.glossaries)
    keys = KeyServicer(application.keys)
    switches = SwitchServicer(application.switches, application.switch_editing)
    mesh = MeshServicer(application.mesh)
    return [
        ServedService(
            f"{PACKAGE}.SearchService",
            partial(search_pb2_grpc.add_SearchServiceServicer_to_server, search),
            default_deadlines={"SearchPassages": DEFAULT_DEADLINE_S},
        ),
        ServedService(
            f"{PACKAGE}.AnswerService",
            partial(answers_pb2_grpc.add_AnswerServiceServicer_to_server, answers),
            default_deadlines={"AnswerQuestion": ANSWER_DEADLINE_S},
        ),
        ServedService(
            f"{PACKAGE}.ExplanationService",
            partial(explanations_pb2_grpc.add_ExplanationServiceServicer_to_server, explanations),
            default_deadlines={"ExplainSearch": EXPLANATION_DEADLINE_S},
        ),
        ServedService(
            f"{PACKAGE}.ContextService",
            partial(context_pb2_grpc.add_ContextServiceServicer_to_server, contexts),
            default_deadlines={"BuildContext": DEFAULT_DEADLINE_S},
        ),
        ServedService(
            f"{PACKAGE}.WorkspaceService",
            partial(workspaces_pb2_grpc.add_WorkspaceServiceServicer_to_server, workspaces),
        ),
        ServedService(
            f"{PACKAGE}.DocumentService",
            partial(documents_pb2_grpc.add_DocumentServiceServicer_to_server, documents),
            default_deadlines={"DeleteSource": None},
        ),
        ServedService(
            f"{PACKAGE}.IngestionService",
            partial(ingestion_pb2_grpc.add_IngestionServiceServicer_to_server, ingestion),
            default_deadlines={"IngestDocument": None, "RechunkDocument": None},
        ),
        ServedService(
            f"{PACKAGE}.JobService",
            partial(jobs_pb2_grpc.add_JobServiceServicer_to_server, jobs),
            default_deadlines={"SubmitDocuments": None, "WatchJob": None},
        ),
        ServedService(
            f"{PACKAGE}.SpaceService",
            partial(spaces_pb2_grpc.add_SpaceServiceServicer_to_server, spaces),
            default_deadlines={"ReembedWorkspace": None, "DropSpace": None},
        ),
        ServedService(
            f"{PACKAGE}.TransferService",
            partial(transfers_pb2_grpc.add_TransferServiceServicer_to_server, transfers),
            default_deadlines={"ExportWorkspace": None, "ImportWorkspace": None},
        ),
        ServedService(
            f"{PACKAGE}.GlossaryService",
            partial(glossary_pb2_grpc.add_GlossaryServiceServicer_to_server, glossary),
        ),
        ServedService(
            f"{PACKAGE}.KeyService",
            partial(keys_pb2_grpc.add_KeyServiceServicer_to_server, keys),
        ),
        ServedService(
            f"{PACKAGE}.SwitchService",
            partial(switches_pb2_grpc.add_SwitchServiceServicer_to_server, switches),
        ),
        ServedService(
            f"{PACKAGE}.MeshService",
            partial(mesh_pb2_grpc.add_MeshServiceServicer_to_server, mesh),
        ),
    ]
