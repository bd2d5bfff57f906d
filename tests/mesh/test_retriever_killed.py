"""A retriever that is killed loses nothing that was acknowledged."""

import pytest

from tests.mesh.caller import Caller, found
from tests.mesh.conftest import WORKSPACE
from tests.mesh.processes import Mesh

pytestmark = [pytest.mark.mesh, pytest.mark.faults]


def test_an_acknowledged_upload_survives_a_kill(mesh: Mesh, caller: Caller) -> None:
    """Killed right after the acknowledgement and started again, the same search gives the same
    result."""
    query = "Qui signe la dérogation pour un transport frigorifique ?"
    text = "# Froid\n\nLe directeur des opérations signe la dérogation frigorifique DF-77.\n"
    before_upload = caller.search(WORKSPACE, query)
    caller.ingest(WORKSPACE, "froid.md", text.encode())
    mesh.processes["retriever"].kill()
    mesh.restart("retriever")
    caller.wait_until_whole(WORKSPACE)
    after_kill = caller.search(WORKSPACE, query)
    again = caller.search(WORKSPACE, query)

    assert "froid.md" not in [document for document, _ in found(before_upload)]
    assert found(after_kill)[0][0] == "froid.md"
    assert found(after_kill) == found(again)


def test_an_acknowledged_deletion_survives_a_kill(mesh: Mesh, caller: Caller) -> None:
    """A document deleted right before the kill stays deleted."""
    caller.ingest(WORKSPACE, "ephemere.md", b"# Ephemere\n\nLe code du coffre est XK-4471.\n")
    assert found(caller.search(WORKSPACE, "XK-4471"))[0][0] == "ephemere.md"
    caller.delete_document(WORKSPACE, "ephemere.md")
    mesh.processes["retriever"].kill()
    mesh.restart("retriever")
    caller.wait_until_whole(WORKSPACE)
    documents = [document for document, _ in found(caller.search(WORKSPACE, "XK-4471"))]

    assert "ephemere.md" not in documents
