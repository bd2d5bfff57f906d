"""The methods of the gateway that take workspaces out and in."""

from justesse.client.method import PACKAGE, Method
from justesse.gateway.v1 import transfers_pb2

EXPORT_WORKSPACE = Method(
    f"{PACKAGE}.TransferService",
    "ExportWorkspace",
    transfers_pb2.ExportWorkspaceRequest,
    transfers_pb2.ExportWorkspaceResponse,
    idempotent=False,
)
IMPORT_WORKSPACE = Method(
    f"{PACKAGE}.TransferService",
    "ImportWorkspace",
    transfers_pb2.ImportWorkspaceRequest,
    transfers_pb2.ImportWorkspaceResponse,
    idempotent=False,
)
