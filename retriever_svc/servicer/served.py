"""What this process serves."""

from functools import partial

from chassis.server import ServedService
from justesse.retriever.v1 import (
    documents_pb2,
    documents_pb2_grpc,
    search_pb2,
    search_pb2_grpc,
    spaces_pb2,
    spaces_pb2_grpc,
    transfers_pb2,
    transfers_pb2_grpc,
    workspaces_pb2,
    workspaces_pb2_grpc,
)
from retriever_svc.engine import RetrievalEngine
from retriever_svc.servicer.documents import DocumentServicer
from retriever_svc.servicer.search import SearchServicer
from retriever_svc.servicer.spaces import SpaceServicer
from retriever_svc.servicer.transfers import TransferServicer
from retriever_svc.servicer.workspaces import WorkspaceServicer
from retriever_svc.transfers.imports import Imports
from retriever_svc.transfers.transfer_limits import TransferLimits
from retriever_svc.wire.uploads import UploadLimits

_SEARCH_DEADLINE_S = 5.0


def served_services(
    engine: RetrievalEngine,
    limits: UploadLimits,
    imports: Imports,
    transfers: TransferLimits,
) -> list[ServedService]:
    """Returns all services over one engine."""
    return [
        ServedService(
            workspaces_pb2.DESCRIPTOR.services_by_name["WorkspaceService"].full_name,
            partial(
                workspaces_pb2_grpc.add_WorkspaceServiceServicer_to_server,
                WorkspaceServicer(engine),
            ),
        ),
        ServedService(
            documents_pb2.DESCRIPTOR.services_by_name["DocumentService"].full_name,
            partial(
                documents_pb2_grpc.add_DocumentServiceServicer_to_server,
                DocumentServicer(engine, limits),
            ),
        ),
        ServedService(
            search_pb2.DESCRIPTOR.services_by_name["SearchService"].full_name,
            partial(search_pb2_grpc.add_SearchServiceServicer_to_server, SearchServicer(engine)),
            default_deadlines={"SearchPassages": _SEARCH_DEADLINE_S},
        ),
        ServedService(
            spaces_pb2.DESCRIPTOR.services_by_name["SpaceService"].full_name,
            partial(spaces_pb2_grpc.add_SpaceServiceServicer_to_server, SpaceServicer(engine)),
        ),
        ServedService(
            transfers_pb2.DESCRIPTOR.services_by_name["TransferService"].full_name,
            partial(
                transfers_pb2_grpc.add_TransferServiceServicer_to_server,
                TransferServicer(engine, imports, limits, transfers),
            ),
        ),
    ]
