"""Bad input gets a clear typed error or a stated no-op; nothing is lost and nothing leaks."""

import json
import urllib.error
import urllib.request
from typing import Any

import grpc
import pytest

from justesse.gateway.v1 import ingestion_pb2
from tests.mesh.caller import Caller, details_of, found, said
from tests.mesh.conftest import DOCUMENTS, WORKSPACE
from tests.mesh.processes import Mesh

pytestmark = pytest.mark.mesh

REFUSED_SEARCHES = [
    ("nulle-part", "retour", None, "NOT_FOUND", "nulle-part"),
    (WORKSPACE, "", None, "INVALID_ARGUMENT", "query"),
    (WORKSPACE, " \n\t ", None, "INVALID_ARGUMENT", "query"),
    (WORKSPACE, "x" * 100_000, None, "INVALID_ARGUMENT", "query"),
    (WORKSPACE, "retour", 0, "INVALID_ARGUMENT", "limit"),
    (WORKSPACE, "retour", 1_000_000, "INVALID_ARGUMENT", "limit"),
]


def post_search(mesh: Mesh, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Posts to /v1/search and returns status and body, also of a refusal."""
    request = urllib.request.Request(
        f"{mesh.http_url}/v1/search",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.load(refused)


@pytest.mark.parametrize(("workspace", "query", "limit", "status", "word"), REFUSED_SEARCHES)
def test_a_bad_search_is_refused_over_grpc(
    caller: Caller, workspace: str, query: str, limit: int | None, status: str, word: str
) -> None:
    """The status is canonical and the message names what was wrong."""
    with pytest.raises(grpc.RpcError) as refused:
        caller.search(workspace, query, limit)

    assert refused.value.code().name == status
    assert word in said(refused.value)
    assert len(said(refused.value)) < 1000


@pytest.mark.parametrize(("workspace", "query", "limit", "status", "word"), REFUSED_SEARCHES)
def test_a_bad_search_is_refused_over_http(
    mesh: Mesh, workspace: str, query: str, limit: int | None, status: str, word: str
) -> None:
    """HTTP refuses the same requests with the same status and words."""
    body = {"workspace": workspace, "query": query} | ({} if limit is None else {"limit": limit})
    code, answer = post_search(mesh, body)

    assert code == {"NOT_FOUND": 404, "INVALID_ARGUMENT": 400}[status]
    assert answer["error"]["status"] == status
    assert word in json.dumps(answer["error"])
    assert len(json.dumps(answer)) < 2000


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("film.mp4", b"\x00\x00\x00\x18ftypmp42", "UNSUPPORTED_TYPE"),
        ("sans-type", b"Bonjour", "UNSUPPORTED_TYPE"),
        ("faux.pdf", b"%PDF-1.7\ngarbage", "UNREADABLE_FILE"),
        ("faux.docx", b"PK\x03\x04 not a zip", "UNREADABLE_FILE"),
        ("image.pdf", b"GIF89a", "TYPE_MISMATCH"),
        ("vide.md", b"", "EMPTY_FILE"),
        ("blanc.txt", b" \n\n\t ", "NO_TEXT"),
    ],
)
def test_a_bad_file_is_refused_and_named(
    caller: Caller, name: str, content: bytes, reason: str
) -> None:
    """The message names the file, and nothing of it is stored."""
    with pytest.raises(grpc.RpcError) as refused:
        caller.ingest(WORKSPACE, name, content)

    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert name in said(refused.value)
    assert "Traceback" not in said(refused.value)
    assert reason.encode() in details_of(refused.value)


def test_a_file_for_an_unknown_workspace_is_refused(caller: Caller) -> None:
    """The workspace must exist before anything is taken in."""
    with pytest.raises(grpc.RpcError) as refused:
        caller.ingest("nulle-part", "a.md", b"# A\n\nTexte.\n")

    assert refused.value.code() is grpc.StatusCode.NOT_FOUND


def test_a_duplicate_upload_is_a_stated_no_op(caller: Caller) -> None:
    """Equal content under the same id changes nothing and says so."""
    before = found(caller.search(WORKSPACE, "retour de marchandise"))
    again = caller.ingest(WORKSPACE, "retours.md", DOCUMENTS["retours.md"].encode())

    assert again.outcome == ingestion_pb2.INGESTION_OUTCOME_UNCHANGED
    assert found(caller.search(WORKSPACE, "retour de marchandise")) == before


def test_a_changed_upload_replaces_the_old_text(caller: Caller) -> None:
    """After a new version, the new text is found and the old one is gone."""
    caller.ingest(WORKSPACE, "quai.md", b"# Quai\n\nLe quai Zephyr ouvre a six heures.\n")
    changed = caller.ingest(
        WORKSPACE, "quai.md", b"# Quai\n\nLe quai Zephyr ouvre a huit heures.\n"
    )
    texts = " ".join(text for _, text in found(caller.search(WORKSPACE, "quai Zephyr")))
    caller.delete_document(WORKSPACE, "quai.md")

    assert changed.outcome == ingestion_pb2.INGESTION_OUTCOME_REPLACED
    assert "huit heures" in texts
    assert "six heures" not in texts


def test_deleting_what_does_not_exist_says_so(caller: Caller) -> None:
    """Deleting twice is no error; the answer tells the difference."""
    caller.ingest(WORKSPACE, "adieu.md", b"# Adieu\n\nUn texte de trop.\n")

    assert caller.delete_document(WORKSPACE, "adieu.md").deleted
    assert not caller.delete_document(WORKSPACE, "adieu.md").deleted
