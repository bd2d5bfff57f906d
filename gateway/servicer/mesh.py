"""The state of the mesh over gRPC."""

from __future__ import annotations

from chassis.interception import ServicerContext
from gateway.mesh import Mesh
from gateway.wire.mesh import to_mesh_response
from justesse.gateway.v1 import mesh_pb2, mesh_pb2_grpc


class MeshServicer(mesh_pb2_grpc.MeshServiceServicer):
    """Serves justesse.gateway.v1.MeshService."""

    def __init__(self, mesh: Mesh) -> None:
        self._mesh = mesh

    async def DescribeMesh(
        self, request: mesh_pb2.DescribeMeshRequest, context: ServicerContext
    ) -> mesh_pb2.DescribeMeshResponse:
        """Asks every service for its health and says what was heard."""
        mesh = await self._mesh.describe()
        return to_mesh_response(mesh)
