"""Kept files go with what was made of them, and are told of where they do not."""

from chassis.errors import Unavailable
from gateway.catalogue import Catalogue
from gateway.known_workspaces import KnownWorkspaces
from gateway.query_vectors import QueryVectors
from gateway.switches.editing import SwitchEditing
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes


def catalogue(mesh: MeshOfFakes) -> Catalogue:
    """The catalogue over the fakes."""
    known = KnownWorkspaces(mesh.retriever)
    vectors = QueryVectors(mesh.embedder)
    switches = SwitchEditing(mesh.switches, mesh.retriever)
    return Catalogue(mesh.retriever, mesh.ingestion, known, vectors, mesh.glossaries, switches)


async def test_kept_files_go_with_a_document_and_a_workspace(mesh: MeshOfFakes) -> None:
    """Also those of a document that is gone already: an earlier try may have left them."""
    deletions = [await catalogue(mesh).delete_document("negoce", "a.md") for _ in range(2)]
    workspace = await catalogue(mesh).delete_workspace("negoce")

    assert [(one.deleted, one.original_count) for one in deletions] == [(True, 1), (False, 1)]
    assert workspace.original_count == 1
    assert mesh.ingestion.forgotten == [("negoce", "a.md"), ("negoce", "a.md"), ("negoce", "")]


async def test_a_lost_ingestion_role_keeps_nothing_findable(mesh: MeshOfFakes) -> None:
    """The document is gone; the receipt says that its file may not be, and why."""
    mesh.ingestion.behaviour.error = Unavailable("the ingestion role cannot be reached")
    deletion = await catalogue(mesh).delete_document("negoce", "a.md")

    assert deletion.deleted
    assert deletion.original_count == 0
    assert "cannot be reached" in deletion.original_failure
    assert ("negoce", "a.md") not in mesh.retriever.documents
