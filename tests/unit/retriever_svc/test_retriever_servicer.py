"""The three services over a real socket."""

import grpc
import grpc.aio
import pytest

from chassis.error_mapping import service_error_from
from chassis.errors import (
    AlreadyExists,
    InvalidArgument,
    NotFound,
    ServiceError,
)
from justesse.retriever.v1 import (
    documents_pb2,
    search_pb2,
    workspaces_pb2,
)
from tests.fakes.retriever_client import SPACE, RetrieverClient


async def error_of(call: "grpc.aio.UnaryUnaryCall[object, object] | object") -> ServiceError:
    """Returns the error a call ends with."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call  # type: ignore[misc]
    return service_error_from(caught.value)


async def test_a_document_is_stored_found_read_and_deleted(retriever: RetrieverClient) -> None:
    """One round through all three services."""
    stored = await retriever.put("a", ["l'eau douce", "le feu"], [[1, 0, 0], [0, 1, 0]])
    answer = await retriever.find("eau", [2, 0, 0])
    read = await retriever.documents.GetDocument(
        documents_pb2.GetDocumentRequest(workspace="docs", external_id="a", include_passages=True)
    )
    listed = await retriever.documents.ListDocuments(
        documents_pb2.ListDocumentsRequest(workspace="docs")
    )
    described = await retriever.workspaces.DescribeWorkspace(
        workspaces_pb2.DescribeWorkspaceRequest(slug="docs")
    )
    deleted = await retriever.documents.DeleteDocument(
        documents_pb2.DeleteDocumentRequest(workspace="docs", external_id="a")
    )
    after = await retriever.find("eau", [2, 0, 0])
    hit = answer.hits[0]

    assert stored.outcome == documents_pb2.UPSERT_OUTCOME_CREATED
    assert (hit.passage.text, hit.fused_rank, hit.document.external_id) == ("l'eau douce", 1, "a")
    assert hit.space_scores[0].cosine == pytest.approx(1)
    assert hit.HasField("bm25_score")
    assert not hit.space_scores[0].HasField("best_window_cosine")
    assert hit.passage_id == read.passages[0].passage_id
    assert answer.report.outcome == search_pb2.STAGE_OUTCOME_RAN
    assert answer.report.latency_ms > 0
    assert [space.space_id for space in described.workspace.spaces] == [SPACE]
    assert (listed.total_count, listed.documents[0].passage_count) == (1, 2)
    assert listed.documents[0].update_time == hit.update_time
    assert (deleted.deleted, deleted.passage_count) == (True, 2)
    # PostgreSQL and Milvus promise no time.
    assert deleted.purge_within_s in (14_400, 0)
    assert list(after.hits) == []
    assert after.applied_seq == deleted.seq


async def test_a_repeated_upload_says_that_nothing_changed(retriever: RetrieverClient) -> None:
    """Told by the content hash."""
    await retriever.put("a", ["eau"], content_hash="one")
    again = await retriever.put("a", ["eau"], content_hash="one")

    assert again.outcome == documents_pb2.UPSERT_OUTCOME_UNCHANGED
    assert again.awaiting_passage_count == 1


async def test_fusion_settings_are_changed_told_and_kept(retriever: RetrieverClient) -> None:
    """By an update, in the workspace, in the answer, in each list and in the report."""
    await retriever.put("a", ["l'eau douce"], [[1, 0, 0]])
    fusion = workspaces_pb2.FusionSettings(lexical_weight=0.5, space_weights={SPACE: 2})
    update = workspaces_pb2.UpdateWorkspaceRequest(slug="docs", fusion=fusion)
    updated = await retriever.workspaces.UpdateWorkspace(update)
    answer = await retriever.find("eau", [1, 0, 0], rank_constant=10)
    bad = await error_of(
        retriever.workspaces.UpdateWorkspace(
            workspaces_pb2.UpdateWorkspaceRequest(
                slug="docs", fusion=workspaces_pb2.FusionSettings(dense_weight=-1)
            )
        )
    )

    full = workspaces_pb2.FusionSettings(rank_constant=60, dense_weight=1)
    full.MergeFrom(fusion)
    assert updated.workspace.settings.fusion == full
    full.rank_constant = 10
    assert answer.fusion == full
    assert [ranked.weight for ranked in answer.lists] == [2, 0.5]
    assert answer.report.detail == (f"fused with k = 10; weights: bm25 0.5, spaces 1, {SPACE} 2")
    assert isinstance(bad, InvalidArgument)
    assert bad.violations[0].field == "fusion.dense_weight"


async def test_workspaces_are_listed_and_deleted(retriever: RetrieverClient) -> None:
    """The list is ordered; a deleted one is not in it."""
    await retriever.workspaces.CreateWorkspace(workspaces_pb2.CreateWorkspaceRequest(slug="alpha"))
    before = await retriever.workspaces.ListWorkspaces(workspaces_pb2.ListWorkspacesRequest())
    await retriever.put("a", ["eau", "feu"])
    removal = await retriever.workspaces.DeleteWorkspace(
        workspaces_pb2.DeleteWorkspaceRequest(slug="docs")
    )
    after = await retriever.workspaces.ListWorkspaces(workspaces_pb2.ListWorkspacesRequest())

    assert [workspace.slug for workspace in before.workspaces] == ["alpha", "docs"]
    assert [workspace.slug for workspace in after.workspaces] == ["alpha"]
    assert (removal.document_count, removal.passage_count) == (1, 2)


async def test_outdated_spaces_are_reported_as_degraded(retriever: RetrieverClient) -> None:
    """The report says why, and the answer holds what to embed for."""
    await retriever.put("a", ["eau"], [[1, 0, 0]])
    answer = await retriever.find("eau", [1, 0, 0], spaces_version=7)

    assert answer.spaces_outdated
    assert answer.report.outcome == search_pb2.STAGE_OUTCOME_DEGRADED
    assert answer.report.reason == "SPACES_OUTDATED"
    assert [space.space_id for space in answer.spaces] == [SPACE]
    assert [ranked.space_id for ranked in answer.lists] == [""]


async def test_an_unknown_workspace_is_not_found(retriever: RetrieverClient) -> None:
    """By every service, with a reason for programs."""
    calls = (
        retriever.find("eau", workspace="none"),
        retriever.put("a", ["eau"], workspace="none"),
        retriever.workspaces.DescribeWorkspace(
            workspaces_pb2.DescribeWorkspaceRequest(slug="none")
        ),
        retriever.documents.ListDocuments(documents_pb2.ListDocumentsRequest(workspace="none")),
    )
    for call in calls:
        error = await error_of(call)
        assert isinstance(error, NotFound)
        assert (error.reason, "none" in error.message) == ("WORKSPACE_NOT_FOUND", True)


async def test_a_taken_slug_and_a_bad_slug_are_refused(retriever: RetrieverClient) -> None:
    """One exists, the other cannot."""
    create = retriever.workspaces.CreateWorkspace
    taken = await error_of(create(workspaces_pb2.CreateWorkspaceRequest(slug="docs")))
    bad = await error_of(create(workspaces_pb2.CreateWorkspaceRequest(slug="Bad Slug")))

    assert isinstance(taken, AlreadyExists)
    assert isinstance(bad, InvalidArgument)
    assert [violation.field for violation in bad.violations] == ["slug"]


@pytest.mark.parametrize(
    ("text", "fields", "field"),
    [
        ("", {}, "variants[0].text"),
        ("x" * 100_000, {}, "variants[0].text"),
        ("eau", {"limit": 10**6}, "limit"),
    ],
)
async def test_wrong_searches_name_the_field(
    retriever: RetrieverClient, text: str, fields: dict[str, object], field: str
) -> None:
    """Blank, oversized and out of range."""
    error = await error_of(retriever.find(text, (), **fields))

    assert isinstance(error, InvalidArgument)
    assert [violation.field for violation in error.violations] == [field]


async def test_a_filter_is_applied(retriever: RetrieverClient) -> None:
    """Over the wire, and a wrong one is refused by name."""
    condition = search_pb2.Filter(field_exists="category")
    wrong = search_pb2.Filter(field_exists="title")

    assert not (await retriever.find("eau", filter=condition)).hits
    error = await error_of(retriever.find("eau", filter=wrong))
    assert isinstance(error, InvalidArgument)
    assert [violation.field for violation in error.violations] == ["filter.field_exists"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 0, 0], [float("nan"), 0, 0]], "passage 1"),
        ([[0, 0, 0], [1, 0, 0]], "passage 0"),
        ([[1, 0, 0], [1, 0]], "earlier vectors"),
    ],
)
async def test_bad_vectors_name_the_row_and_store_nothing(
    retriever: RetrieverClient, rows: list[list[float]], message: str
) -> None:
    """Not finite, zero and ragged rows."""
    error = await error_of(retriever.put("a", ["eau", "feu"], rows))
    missing = await error_of(
        retriever.documents.GetDocument(
            documents_pb2.GetDocumentRequest(workspace="docs", external_id="a")
        )
    )

    assert isinstance(error, InvalidArgument)
    assert message in error.message
    assert isinstance(missing, NotFound)


async def test_vectors_of_another_width_are_refused(retriever: RetrieverClient) -> None:
    """On upload and on search, with both widths."""
    await retriever.put("a", ["eau"], [[1, 0, 0]])
    stored = await error_of(retriever.put("b", ["feu"], [[1, 0]]))
    asked = await error_of(retriever.find("eau", [1, 0]))

    for error in (stored, asked):
        assert isinstance(error, InvalidArgument)
        assert "3" in error.message
        assert "2" in error.message


async def test_pages_follow_their_tokens(retriever: RetrieverClient) -> None:
    """Every document once; a foreign token is refused."""
    for name in ("c", "a", "b"):
        await retriever.put(name, ["eau"])
    seen: list[str] = []
    token = ""
    while True:
        page = await retriever.documents.ListDocuments(
            documents_pb2.ListDocumentsRequest(workspace="docs", page_size=2, page_token=token)
        )
        seen += [listed.document.external_id for listed in page.documents]
        token = page.next_page_token
        if not token:
            break
    error = await error_of(
        retriever.documents.ListDocuments(
            documents_pb2.ListDocumentsRequest(workspace="docs", page_token="mine")
        )
    )

    assert seen == ["a", "b", "c"]
    assert isinstance(error, InvalidArgument)


async def test_a_search_is_explained(retriever: RetrieverClient) -> None:
    """Over the wire; a missing target and a wrong id are refused by name."""
    await retriever.put("a", ["l'eau de source"], [[1, 0, 0]])
    found = await retriever.find("eau", [1, 0, 0])
    search = search_pb2.SearchPassagesRequest(
        workspace="docs", variants=[search_pb2.QueryVariant(text="eau")]
    )

    for target in ({"passage_id": found.hits[0].passage_id}, {"external_id": "a"}):
        answer = await retriever.search.ExplainPassage(
            search_pb2.ExplainPassageRequest(search=search, **target)
        )
        assert answer.applied_seq == found.applied_seq
        (passage,) = answer.passages
        assert passage.outcome == search_pb2.PASSAGE_OUTCOME_RETURNED
        assert (passage.external_id, passage.fused_rank) == ("a", 1)
        assert [(one.space_id, one.rank) for one in passage.standings] == [("", 1)]
        assert [term.term for term in passage.matched_terms] == ["eau"]
    for target, field in (({}, "target"), ({"passage_id": "9" * 5000}, "passage_id")):
        error = await error_of(
            retriever.search.ExplainPassage(
                search_pb2.ExplainPassageRequest(search=search, **target)
            )
        )
        assert isinstance(error, InvalidArgument)
        assert [violation.field for violation in error.violations] == [field]
