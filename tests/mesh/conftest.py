"""A mesh with a few documents, started once for each file of tests."""

from collections.abc import Iterator

import pytest

from tests.mesh.caller import Caller
from tests.mesh.processes import Mesh, running_mesh

WORKSPACE = "essai"
DOCUMENTS = {
    "retours.md": """---
title: Procédure de retour
keywords: [retour, avoir]
---
# Procédure de retour

Le client annonce le retour par écrit. L'entrepôt contrôle les cartons dans les deux jours.
Un avoir est établi quand la marchandise est intacte.
""",
    "surestaries.md": """# Surestaries

Quand un conteneur reste au terminal après la franchise de cinq jours, l'armateur facture des
surestaries. Elles sont refacturées au client sauf si le retard vient de nos services.
""",
    "expeditions.md": """# Expéditions du mois

| port | conteneurs | en retard |
|---|---|---|
| Le Havre | 112 | 9 |
| Marseille | 64 | 11 |

Le conteneur BL-2024-117 est arrivé à Marseille avec trois jours de retard.
""",
}


@pytest.fixture(scope="module")
def mesh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mesh]:
    """Six processes with the deterministic encoder and a workspace of three documents."""
    with running_mesh(tmp_path_factory.mktemp("mesh")) as mesh:
        with Caller(mesh.gateway_address) as caller:
            caller.create_workspace(WORKSPACE)
            for name, text in DOCUMENTS.items():
                caller.ingest(WORKSPACE, name, text.encode())
        yield mesh


@pytest.fixture
def caller(mesh: Mesh) -> Iterator[Caller]:
    """A connection to the mesh's gateway."""
    with Caller(mesh.gateway_address) as caller:
        yield caller
