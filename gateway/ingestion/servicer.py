"""The ingestion role over gRPC: the gateway's own contract, served where the work is done."""

from __future__ import annotations

from functools import partial

from chassis.server import ServedService
from gateway.ports import Ingestion
from gateway.servicer.ingestion import IngestionServicer
from gateway.uploads import Uploads
from justesse.gateway.v1 import ingestion_pb2_grpc

SERVICE_NAME = "justesse.gateway.v1.IngestionService"


def served(ingestion: Ingestion, *, max_file_bytes: int) -> ServedService:
    """Returns the service, ready to be served; a file takes as long as it takes."""
    servicer = IngestionServicer(Uploads(ingestion, max_bytes=max_file_bytes))
    return ServedService(
        SERVICE_NAME,
        partial(ingestion_pb2_grpc.add_IngestionServiceServicer_to_server, servicer),
        default_deadlines={"IngestDocument": None},
    )
