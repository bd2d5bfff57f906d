"""Which claim each RPC of the retriever needs, where callers must show one.

What does not stand here is refused. A claim for more includes one for less: a gateway that serves a
writer reads, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass

EVERY_WORKSPACE = "*"
"""Subject of claims for what concerns no single workspace."""

_ADMIN = frozenset({"admin"})
_WRITE = _ADMIN | {"write"}
_READ = _WRITE | {"read"}


@dataclass(frozen=True, slots=True)
class NeededClaim:
    """Actions of which one is needed, and the field that names the workspace; empty for none."""

    actions: frozenset[str]
    place: str = "workspace"


_PACKAGE = "justesse.retriever.v1"
NEEDED_CLAIMS: Mapping[str, NeededClaim] = {
    f"{_PACKAGE}.SearchService/SearchPassages": NeededClaim(_READ),
    f"{_PACKAGE}.SearchService/ExplainPassage": NeededClaim(_READ, "search.workspace"),
    f"{_PACKAGE}.SearchService/FindDocuments": NeededClaim(_READ),
    f"{_PACKAGE}.DocumentService/GetDocument": NeededClaim(_READ),
    f"{_PACKAGE}.DocumentService/ListDocuments": NeededClaim(_READ),
    f"{_PACKAGE}.DocumentService/ReadParents": NeededClaim(_READ),
    f"{_PACKAGE}.DocumentService/UpsertDocument": NeededClaim(_WRITE, "header.workspace"),
    f"{_PACKAGE}.DocumentService/DeleteDocument": NeededClaim(_WRITE),
    f"{_PACKAGE}.SpaceService/LeaseSpace": NeededClaim(_WRITE),
    f"{_PACKAGE}.SpaceService/ListPassagesAwaiting": NeededClaim(_READ),
    f"{_PACKAGE}.SpaceService/PutVectors": NeededClaim(_WRITE),
    f"{_PACKAGE}.SpaceService/PutWindows": NeededClaim(_WRITE),
    f"{_PACKAGE}.SpaceService/SwitchSpace": NeededClaim(_ADMIN),
    f"{_PACKAGE}.SpaceService/DropSpace": NeededClaim(_ADMIN),
    f"{_PACKAGE}.TransferService/ExportWorkspace": NeededClaim(_ADMIN),
    f"{_PACKAGE}.TransferService/ImportWorkspace": NeededClaim(_ADMIN, "header.workspace"),
    f"{_PACKAGE}.WorkspaceService/ListWorkspaces": NeededClaim(_READ, ""),
    f"{_PACKAGE}.WorkspaceService/DescribeWorkspace": NeededClaim(_READ, "slug"),
    f"{_PACKAGE}.WorkspaceService/CreateWorkspace": NeededClaim(_ADMIN, "slug"),
    f"{_PACKAGE}.WorkspaceService/UpdateWorkspace": NeededClaim(_ADMIN, "slug"),
    f"{_PACKAGE}.WorkspaceService/DeleteWorkspace": NeededClaim(_ADMIN, "slug"),
}
"""By full name of the method."""
