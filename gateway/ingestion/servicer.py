"""The ingestion role over gRPC: the gateway's own contracts, served where the work is done."""

from __future__ import annotations

from functools import partial

from chassis.server import ServedService
from gateway.ingestion.queued_ingestion import QueuedIngestion
from gateway.servicer.ingestion import IngestionServicer
from gateway.servicer.jobs import JobServicer
from gateway.servicer.spaces import SpaceServicer
from gateway.space_work import SpaceWork
from gateway.uploads import Uploads
from justesse.gateway.v1 import ingestion_pb2_grpc, jobs_pb2_grpc, spaces_pb2_grpc

SERVICE_NAME = "justesse.gateway.v1.IngestionService"
JOBS_NAME = "justesse.gateway.v1.JobService"
SPACES_NAME = "justesse.gateway.v1.SpaceService"


def served_spaces(work: SpaceWork) -> ServedService:
    """Returns the service of spaces, ready to be served; embedding again has no time limit."""
    return ServedService(
        SPACES_NAME,
        partial(spaces_pb2_grpc.add_SpaceServiceServicer_to_server, SpaceServicer(work)),
        default_deadlines={"ReembedWorkspace": None, "DropSpace": None},
    )


def served(queued: QueuedIngestion, *, max_file_bytes: int) -> list[ServedService]:
    """Returns the services, ready to be served; a file takes as long as it takes."""
    ingestion = IngestionServicer(Uploads(queued, max_bytes=max_file_bytes))
    jobs = JobServicer(queued, max_file_bytes=max_file_bytes)
    return [
        ServedService(
            SERVICE_NAME,
            partial(ingestion_pb2_grpc.add_IngestionServiceServicer_to_server, ingestion),
            default_deadlines={"IngestDocument": None, "RechunkDocument": None},
        ),
        ServedService(
            JOBS_NAME,
            partial(jobs_pb2_grpc.add_JobServiceServicer_to_server, jobs),
            default_deadlines={"SubmitDocuments": None, "WatchJob": None},
        ),
    ]
