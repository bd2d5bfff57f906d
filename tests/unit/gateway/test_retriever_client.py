"""The retriever over sockets."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from google.protobuf.timestamp_pb2 import Timestamp

from gateway.clients.retriever import RetrieverClient
from gateway.documents import (
    Document,
    DocumentDeletion,
    FloatMatrix,
    Passage,
    UpsertOutcome,
    UpsertReport,
    VectorBlock,
)
from gateway.filters import FieldExists, Threshold
from gateway.receipt import StageOutcome
from gateway.searching import (
    ListRank,
    PassageSearch,
    QueryVariant,
    QueryVector,
    RankedList,
    SearchMode,
    SpaceScore,
)
from gateway.workspaces import DenseIndexKind, Space, WorkspaceDeletion, WorkspaceSettings
from justesse.retriever.v1 import documents_pb2, search_pb2, workspaces_pb2
from tests.fakes.gateway_services.downstream import downstream

PACKAGE = "justesse.retriever.v1"
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
NOON_STAMP = Timestamp(seconds=int(NOON.timestamp()))

WORKSPACE = workspaces_pb2.Workspace(
    slug="negoce",
    settings=workspaces_pb2.WorkspaceSettings(
        language="fr",
        chunking_profile="structure",
        preset="default",
        dense_index_kind=workspaces_pb2.DENSE_INDEX_KIND_HNSW,
    ),
    document_count=2,
    passage_count=5,
    spaces=[
        workspaces_pb2.Space(
            space_id="s",
            dimension=4,
            passage_count=5,
            active_index_kind=workspaces_pb2.DENSE_INDEX_KIND_FLAT,
        )
    ],
    preferred_space_id="s",
    spaces_version=3,
    create_time=NOON_STAMP,
    applied_seq=9,
)


async def test_the_life_of_a_workspace() -> None:
    """All four calls carry the slug and read the description whole."""
    service = f"{PACKAGE}.WorkspaceService"
    answers = {
        f"{service}.CreateWorkspace": lambda _: workspaces_pb2.CreateWorkspaceResponse(
            workspace=WORKSPACE
        ),
        f"{service}.ListWorkspaces": lambda _: workspaces_pb2.ListWorkspacesResponse(
            workspaces=[WORKSPACE, workspaces_pb2.Workspace(slug="vide")]
        ),
        f"{service}.DescribeWorkspace": lambda _: workspaces_pb2.DescribeWorkspaceResponse(
            workspace=WORKSPACE
        ),
        f"{service}.DeleteWorkspace": lambda _: workspaces_pb2.DeleteWorkspaceResponse(
            document_count=2, passage_count=5, purge_within_s=3_600
        ),
    }
    settings = WorkspaceSettings("fr", "structure", "default", DenseIndexKind.HNSW)
    async with downstream(answers) as retriever:
        client = RetrieverClient(retriever.channel)
        created = await client.create_workspace("negoce", settings)
        listed = await client.list_workspaces()
        described = await client.describe_workspace("negoce")
        deleted = await client.delete_workspace("negoce")

    assert retriever.seen[0] == workspaces_pb2.CreateWorkspaceRequest(
        slug="negoce", settings=WORKSPACE.settings
    )
    assert [request.slug for request in retriever.seen[2:]] == ["negoce", "negoce"]
    assert created == described == listed[0]
    assert (described.slug, described.settings) == ("negoce", settings)
    assert described.spaces == (Space("s", 4, 5, DenseIndexKind.FLAT),)
    assert (described.create_time, described.spaces_version) == (NOON, 3)
    assert (described.document_count, described.passage_count) == (2, 5)
    assert (described.preferred_space_id, described.applied_seq) == ("s", 9)
    assert (listed[1].create_time, listed[1].spaces) == (None, ())
    assert deleted == WorkspaceDeletion(2, 5, purge_within_s=3_600)


async def test_a_document_is_streamed_header_first() -> None:
    """The header opens the stream, the passages follow with their vectors; the report is read."""
    response = documents_pb2.UpsertDocumentResponse(
        outcome=documents_pb2.UPSERT_OUTCOME_REPLACED,
        passage_count=2,
        awaiting_passage_count=1,
        kept_vector_count=1,
        seq=7,
    )
    vectors: FloatMatrix = np.array([[0.5, 0.25]], dtype=np.float32)
    async with downstream({f"{PACKAGE}.DocumentService.UpsertDocument": lambda _: response}) as it:
        report = await RetrieverClient(it.channel).upsert_document(
            "negoce",
            Document("a.md", "Titre", valid_from=NOON),
            [Passage(0, "Un."), Passage(1, "Deux.")],
            [VectorBlock("s", vectors, (1,))],
        )

    ((header, batch),) = it.seen
    assert header.header.workspace == "negoce"
    assert header.header.document.external_id == "a.md"
    assert header.header.document.valid_from == NOON_STAMP
    assert not header.header.document.HasField("valid_until")
    assert [passage.text for passage in batch.passages.passages] == ["Un.", "Deux."]
    (block,) = batch.passages.vectors
    assert (block.space_id, block.dimension, list(block.passage_positions)) == ("s", 2, [1])
    assert block.vectors == vectors.tobytes()
    assert report == UpsertReport(UpsertOutcome.REPLACED, 2, 1, 1, 7)


async def test_documents_are_read_listed_and_deleted() -> None:
    """Requests name workspace and document; answers are read whole."""
    document = documents_pb2.Document(external_id="a.md", title="Titre", content_hash="h")
    service = f"{PACKAGE}.DocumentService"
    answers = {
        f"{service}.GetDocument": lambda _: documents_pb2.GetDocumentResponse(
            document=document,
            passage_count=1,
            passages=[
                documents_pb2.StoredPassage(
                    passage_id="p",
                    passage=documents_pb2.Passage(text="Un."),
                    space_ids=["r", "s"],
                    sliced_space_ids=["s"],
                )
            ],
            update_time=NOON_STAMP,
        ),
        f"{service}.ListDocuments": lambda _: documents_pb2.ListDocumentsResponse(
            documents=[
                documents_pb2.ListedDocument(
                    document=document, passage_count=3, awaiting_passage_count=2
                )
            ],
            next_page_token="next",
            total_count=2,
        ),
        f"{service}.DeleteDocument": lambda _: documents_pb2.DeleteDocumentResponse(
            deleted=True, passage_count=1, seq=4, purge_within_s=3_600
        ),
    }
    async with downstream(answers) as retriever:
        client = RetrieverClient(retriever.channel)
        stored = await client.get_document("negoce", "a.md", include_passages=True)
        page = await client.list_documents("negoce", 10, "token")
        deletion = await client.delete_document("negoce", "a.md")

    assert retriever.seen == [
        documents_pb2.GetDocumentRequest(
            workspace="negoce", external_id="a.md", include_passages=True
        ),
        documents_pb2.ListDocumentsRequest(workspace="negoce", page_size=10, page_token="token"),
        documents_pb2.DeleteDocumentRequest(workspace="negoce", external_id="a.md"),
    ]
    assert (stored.document.content_hash, stored.update_time) == ("h", NOON)
    assert (stored.passages[0].passage.text, stored.passages[0].space_ids) == ("Un.", ("r", "s"))
    assert stored.passages[0].sliced_space_ids == ("s",)
    assert (page.next_page_token, page.total_count) == ("next", 2)
    assert (page.documents[0].passage_count, page.documents[0].awaiting_passage_count) == (3, 2)
    assert (page.documents[0].document, page.documents[0].update_time) == (stored.document, None)
    assert deletion == DocumentDeletion(True, 1, 4, purge_within_s=3_600)


async def test_documents_are_found_by_a_condition() -> None:
    """The condition crosses whole; the answer is a page like any other."""
    listed = documents_pb2.ListedDocument(
        document=documents_pb2.Document(external_id="a.md"), passage_count=3
    )
    answers = {
        f"{PACKAGE}.SearchService.FindDocuments": lambda _: search_pb2.FindDocumentsResponse(
            documents=[listed], next_page_token="next", total_count=2
        )
    }
    async with downstream(answers) as retriever:
        client = RetrieverClient(retriever.channel)
        page = await client.find_documents("negoce", FieldExists("category"), 10, "token")

    assert retriever.seen == [
        search_pb2.FindDocumentsRequest(
            workspace="negoce",
            filter=search_pb2.Filter(field_exists="category"),
            page_size=10,
            page_token="token",
        )
    ]
    assert [each.document.external_id for each in page.documents] == ["a.md"]
    assert (page.next_page_token, page.total_count) == ("next", 2)


async def test_a_search_crosses_whole() -> None:
    """Every part of the request is sent, every part of the answer is read."""
    response = search_pb2.SearchPassagesResponse(
        hits=[
            search_pb2.PassageHit(
                passage_id="p",
                passage=documents_pb2.Passage(text="Un.", chunk_index=2),
                document=documents_pb2.Document(external_id="a.md"),
                fused_rank=1,
                fused_score=0.5,
                list_ranks=[search_pb2.ListRank(list_index=1, rank=3, contribution=0.25)],
                space_scores=[search_pb2.SpaceScore(space_id="s", cosine=0.0)],
                update_time=NOON_STAMP,
            )
        ],
        lists=[
            search_pb2.RankedList(variant_index=0, hit_count=1, exact=True),
            search_pb2.RankedList(variant_index=1, space_id="s", hit_count=1),
        ],
        spaces=WORKSPACE.spaces,
        spaces_version=4,
        spaces_outdated=True,
        report=search_pb2.StageReport(outcome=search_pb2.STAGE_OUTCOME_RAN, provider="embedded"),
        applied_seq=9,
        total_count=31,
        window_cut=True,
    )
    vector: FloatMatrix = np.array([0.5, 0.25], dtype=np.float32)
    search = PassageSearch(
        "negoce",
        (QueryVariant("retards", (QueryVector("s", vector),)), QueryVariant("autre", (), 0.5, 0.0)),
        mode=SearchMode.DENSE,
        candidate_count=30,
        limit=200,
        spaces_version=0,
        filter=FieldExists("category"),
        thresholds=(Threshold("s", min_similarity=0.0),),
        context={"week": 12.0},
    )
    async with downstream({f"{PACKAGE}.SearchService.SearchPassages": lambda _: response}) as it:
        fused = await RetrieverClient(it.channel).search_passages(search)

    (request,) = it.seen
    assert [variant.text for variant in request.variants] == ["retards", "autre"]
    assert request.variants[0].vectors[0].vector == vector.tobytes()
    weights = [(variant.weight, variant.lexical_weight) for variant in request.variants]
    assert weights == [(1.0, 1.0), (0.5, 0.0)]
    assert request.mode == search_pb2.SEARCH_MODE_DENSE
    assert (request.candidate_count, request.limit) == (30, 200)
    assert request.HasField("spaces_version")
    assert request.filter.field_exists == "category"
    assert request.thresholds[0].WhichOneof("bound") == "min_similarity"
    assert request.context["week"].number_value == 12.0
    (hit,) = fused.hits
    assert (hit.passage.chunk_index, hit.document.external_id) == (2, "a.md")
    assert hit.list_ranks == (ListRank(1, 3, 0.25),)
    assert hit.space_scores == (SpaceScore("s", 0.0, None),)
    assert (hit.bm25_score, hit.update_time) == (None, NOON)
    assert (fused.total_count, fused.window_cut) == (31, True)
    assert fused.lists == (RankedList(0, "", 1, True), RankedList(1, "s", 1, False))
    assert (fused.spaces_version, fused.spaces_outdated, fused.applied_seq) == (4, True, 9)
    assert fused.report.outcome is StageOutcome.RAN


async def test_a_search_without_a_known_version_sends_none() -> None:
    """Not known is not 0."""
    answers = {
        f"{PACKAGE}.SearchService.SearchPassages": lambda _: search_pb2.SearchPassagesResponse()
    }
    async with downstream(answers) as retriever:
        await RetrieverClient(retriever.channel).search_passages(
            PassageSearch("negoce", (QueryVariant("x"),))
        )

    assert not retriever.seen[0].HasField("spaces_version")
