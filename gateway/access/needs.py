"""Which grant each RPC and each route needs: one table for both doors, and what it names.

What does not stand here is refused to everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from gateway.access.grants import Action


class Reach(Enum):
    """What a need refers to."""

    NOBODY = "no key"
    """Equal in every installation, or health: no key is asked for."""
    ANY_KEY = "any key"
    """Any valid key; the answer holds only what its grants show."""
    WORKSPACE = "workspace"
    """One workspace, named by the call."""
    EVERYTHING = "everything"
    """The installation: an `admin` grant for all workspaces, without a filter."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a call needs; without an action, any grant of the workspace.

    `place` says where the call names its workspace: a field of the message, or of a route
    `path NAME`, `query NAME` or `body`. `whole` refuses grants with a filter: the answer, or the
    change, is not about single documents. What `creates` a workspace is refused without hiding it,
    whether it is there or not.
    """

    reach: Reach
    action: Action | None = None
    place: str = ""
    whole: bool = False
    creates: bool = False


BODY = "body"
"""Place of a workspace that is known once the body is read; the route itself has it checked."""

_NOBODY = Need(Reach.NOBODY)
_ANY_KEY = Need(Reach.ANY_KEY)
_EVERYTHING = Need(Reach.EVERYTHING)


def _in(place: str, action: Action | None, *, whole: bool = False) -> Need:
    return Need(Reach.WORKSPACE, action, place, whole)


def _whole(place: str, action: Action) -> Need:
    return _in(place, action, whole=True)


def _creating(place: str) -> Need:
    return Need(Reach.WORKSPACE, Action.ADMIN, place, whole=True, creates=True)


_READ, _WRITE, _ADMIN = Action.READ, Action.WRITE, Action.ADMIN
_PACKAGE = "justesse.gateway.v1"

RPC_NEEDS: Mapping[str, Need] = {
    f"{_PACKAGE}.SearchService/SearchPassages": _in("workspace", _READ),
    f"{_PACKAGE}.AnswerService/AnswerQuestion": _in("search.workspace", _READ),
    f"{_PACKAGE}.ExplanationService/ExplainSearch": _in("search.workspace", _READ),
    f"{_PACKAGE}.ContextService/BuildContext": _in("search.workspace", _READ),
    f"{_PACKAGE}.WorkspaceService/CreateWorkspace": _creating("slug"),
    f"{_PACKAGE}.WorkspaceService/ListWorkspaces": _ANY_KEY,
    f"{_PACKAGE}.WorkspaceService/DescribeWorkspace": _in("slug", None),
    f"{_PACKAGE}.WorkspaceService/UpdateWorkspace": _whole("slug", _ADMIN),
    f"{_PACKAGE}.WorkspaceService/DeleteWorkspace": _whole("slug", _ADMIN),
    f"{_PACKAGE}.TransferService/ExportWorkspace": _whole("workspace", _ADMIN),
    f"{_PACKAGE}.TransferService/ImportWorkspace": _creating("header.workspace"),
    f"{_PACKAGE}.DocumentService/GetDocument": _in("workspace", _READ),
    f"{_PACKAGE}.DocumentService/ListDocuments": _in("workspace", _READ),
    f"{_PACKAGE}.DocumentService/DeleteDocument": _in("workspace", _WRITE),
    f"{_PACKAGE}.DocumentService/DeleteSource": _whole("workspace", _WRITE),
    f"{_PACKAGE}.IngestionService/IngestDocument": _in("header.workspace", _WRITE),
    f"{_PACKAGE}.IngestionService/RechunkDocument": _in("workspace", _WRITE),
    f"{_PACKAGE}.IngestionService/DeleteOriginals": _whole("workspace", _WRITE),
    f"{_PACKAGE}.JobService/SubmitDocuments": _whole("header.workspace", _WRITE),
    f"{_PACKAGE}.JobService/GetJob": _whole("workspace", _WRITE),
    f"{_PACKAGE}.JobService/ListJobs": _whole("workspace", _WRITE),
    f"{_PACKAGE}.JobService/CancelJob": _whole("workspace", _WRITE),
    f"{_PACKAGE}.JobService/RetryJob": _whole("workspace", _WRITE),
    f"{_PACKAGE}.JobService/WatchJob": _whole("workspace", _WRITE),
    f"{_PACKAGE}.SpaceService/ReembedWorkspace": _whole("workspace", _ADMIN),
    f"{_PACKAGE}.SpaceService/SwitchSpace": _whole("workspace", _ADMIN),
    f"{_PACKAGE}.SpaceService/DropSpace": _whole("workspace", _ADMIN),
    f"{_PACKAGE}.GlossaryService/ListGlossaryEntries": _whole("workspace", _READ),
    f"{_PACKAGE}.GlossaryService/PutGlossaryEntries": _whole("workspace", _WRITE),
    f"{_PACKAGE}.GlossaryService/DeleteGlossaryEntries": _whole("workspace", _WRITE),
    f"{_PACKAGE}.KeyService/CreateKey": _EVERYTHING,
    f"{_PACKAGE}.KeyService/ListKeys": _EVERYTHING,
    f"{_PACKAGE}.KeyService/RevokeKey": _EVERYTHING,
    f"{_PACKAGE}.SwitchService/DescribeSwitches": _EVERYTHING,
    f"{_PACKAGE}.SwitchService/SetSwitch": _EVERYTHING,
    f"{_PACKAGE}.SwitchService/RefreshSwitches": _EVERYTHING,
    f"{_PACKAGE}.SwitchService/SetSwitchRollout": _EVERYTHING,
    f"{_PACKAGE}.SwitchService/ClearSwitchRollout": _EVERYTHING,
    f"{_PACKAGE}.SwitchService/ListSwitchChanges": _EVERYTHING,
    f"{_PACKAGE}.SwitchService/ListSwitchOverrides": _whole("workspace", _ADMIN),
    f"{_PACKAGE}.SwitchService/SetSwitchOverride": _whole("workspace", _ADMIN),
    f"{_PACKAGE}.SwitchService/ClearSwitchOverride": _whole("workspace", _ADMIN),
    f"{_PACKAGE}.MeshService/DescribeMesh": _EVERYTHING,
    # A stream that anybody could hold open.
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": _ANY_KEY,
}
"""By full name of the method."""

_OF_SLUG = "path slug"
_OF_QUERY = "query workspace"
_WORKSPACES = "/v1/workspaces"
_ONE = f"{_WORKSPACES}/{{slug}}"
_DOCUMENT = "/v1/documents/{external_id:path}"

ROUTE_NEEDS: Mapping[tuple[str, str], Need] = {
    ("POST", "/v1/search"): _in(BODY, _READ),
    ("POST", "/v1/explain"): _in(BODY, _READ),
    ("POST", "/v1/context"): _in(BODY, _READ),
    ("POST", "/v1/answer"): _in(BODY, _READ),
    ("POST", "/v1/chat/completions"): _in(BODY, _READ),
    ("GET", "/v1/models"): _ANY_KEY,
    ("GET", _WORKSPACES): _ANY_KEY,
    ("POST", _WORKSPACES): _creating(BODY),
    ("GET", _ONE): _in(_OF_SLUG, None),
    ("PATCH", _ONE): _whole(_OF_SLUG, _ADMIN),
    ("DELETE", _ONE): _whole(_OF_SLUG, _ADMIN),
    ("GET", f"{_ONE}/export"): _whole(_OF_SLUG, _ADMIN),
    ("POST", f"{_ONE}/import"): _creating(_OF_SLUG),
    ("GET", "/v1/documents"): _in(_OF_QUERY, _READ),
    ("POST", "/v1/documents"): _in(BODY, _WRITE),
    ("DELETE", "/v1/documents"): _whole(_OF_QUERY, _WRITE),
    ("POST", "/v1/documents/rechunk"): _in(_OF_QUERY, _WRITE),
    ("GET", _DOCUMENT): _in(_OF_QUERY, _READ),
    ("DELETE", _DOCUMENT): _in(_OF_QUERY, _WRITE),
    ("POST", f"{_ONE}/jobs"): _whole(_OF_SLUG, _WRITE),
    ("GET", f"{_ONE}/jobs"): _whole(_OF_SLUG, _WRITE),
    ("GET", f"{_ONE}/jobs/{{job_id}}"): _whole(_OF_SLUG, _WRITE),
    ("POST", f"{_ONE}/jobs/{{job_id}}:cancel"): _whole(_OF_SLUG, _WRITE),
    ("POST", f"{_ONE}/jobs/{{job_id}}:retry"): _whole(_OF_SLUG, _WRITE),
    ("GET", f"{_ONE}/jobs/{{job_id}}/events"): _whole(_OF_SLUG, _WRITE),
    ("POST", f"{_ONE}/reembed"): _whole(_OF_SLUG, _ADMIN),
    ("POST", f"{_ONE}/spaces/switch"): _whole(_OF_SLUG, _ADMIN),
    ("DELETE", f"{_ONE}/spaces"): _whole(_OF_SLUG, _ADMIN),
    ("GET", f"{_ONE}/glossary"): _whole(_OF_SLUG, _READ),
    ("PUT", f"{_ONE}/glossary"): _whole(_OF_SLUG, _WRITE),
    ("DELETE", f"{_ONE}/glossary"): _whole(_OF_SLUG, _WRITE),
    ("POST", "/v1/keys"): _EVERYTHING,
    ("GET", "/v1/keys"): _EVERYTHING,
    ("DELETE", "/v1/keys/{prefix}"): _EVERYTHING,
    ("GET", "/v1/switches"): _EVERYTHING,
    ("PUT", "/v1/switches/{key}"): _EVERYTHING,
    ("POST", "/v1/switches/refresh"): _EVERYTHING,
    ("PUT", "/v1/switches/{key}/rollout"): _EVERYTHING,
    ("DELETE", "/v1/switches/{key}/rollout"): _EVERYTHING,
    ("GET", "/v1/switches/changes"): _EVERYTHING,
    ("GET", f"{_ONE}/switches"): _whole(_OF_SLUG, _ADMIN),
    ("PUT", f"{_ONE}/switches/{{key}}"): _whole(_OF_SLUG, _ADMIN),
    ("DELETE", f"{_ONE}/switches/{{key}}"): _whole(_OF_SLUG, _ADMIN),
    ("GET", "/v1/status"): _EVERYTHING,
    ("GET", "/"): _NOBODY,
    ("GET", "/livez"): _NOBODY,
    ("GET", "/readyz"): _NOBODY,
    # A browser sends no key for them, and they tell nothing of this installation.
    ("GET", "/docs"): _NOBODY,
    ("GET", "/docs/oauth2-redirect"): _NOBODY,
    ("GET", "/openapi.json"): _NOBODY,
    ("GET", "/docs-files/{path:path}"): _NOBODY,
}
"""By method and template of the route; HEAD counts as GET."""
