"""Pages of an answer: one order, cut into pages; groups and bounds in the final order."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import grpc.aio
import httpx
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.errors import InvalidArgument
from gateway.page_tokens import token_of
from gateway.pages import page_of
from gateway.pipeline import Retrieval
from gateway.questions import Hit, Question, TextSpan
from justesse.gateway.v1 import search_pb2, search_pb2_grpc
from tests.fakes.gateway_services.bench import Bench, ids
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.gateway_services.models import FakeRewriter
from tests.fakes.gateway_services.passages import fused_hit

QUERY = "retards à Marseille"


def following_token(retrieval: Retrieval, **options: object) -> str:
    """Returns the token of the page after this one; empty after the last."""
    question = Question("negoce", QUERY, **options)  # type: ignore[arg-type] # by field name
    return "" if retrieval.following is None else token_of(retrieval.following, question)


async def walked(bench: Bench, **options: object) -> list[Retrieval]:
    """Asks for all pages, one after the other."""
    pages = [await bench.ask(QUERY, **options)]
    while token := following_token(pages[-1], **options):
        pages.append(await bench.ask(QUERY, page_token=token, **options))
    return pages


async def test_pages_are_the_first_pages_order_in_parts() -> None:
    """Nothing twice, nothing left out, ranks go on, and no model is asked again."""
    bench = Bench(FakeRewriter(rewritten="retard livraison"))
    bench.retriever.found = [f"p{n}" for n in range(7)]

    pages = await walked(bench, limit=3)

    assert [ids(page) for page in pages] == [["p6", "p5", "p4"], ["p3", "p2", "p1"], ["p0"]]
    assert [hit.rank for page in pages for hit in page.hits] == list(range(1, 8))
    assert [page.total_count for page in pages] == [7, 7, 7]
    assert (len(bench.rewriter.calls), len(bench.reranker.calls)) == (1, 1)
    assert {page.wordings.texts for page in pages} == {(QUERY, "retard livraison")}
    assert len({page.wordings.searched for page in pages}) == 1
    assert [hit.rerank_rank for hit in pages[1].hits] == [None] * 3
    assert (bench.reports["rewrite"].reason, bench.reports["rerank"].reason) == (
        "LATER_PAGE",
        "LATER_PAGE",
    )


async def test_what_changes_between_pages_neither_repeats_nor_skips() -> None:
    """A passage that went is missing, one that came is not shown, whoever reorders the rest."""
    bench = Bench()
    bench.retriever.found = [f"p{n}" for n in range(6)]
    first = await bench.ask(QUERY, limit=2)
    bench.retriever.found = ["new", "p5", "p0", "p3", "p1"]

    second = await bench.ask(QUERY, limit=9, page_token=following_token(first, limit=2))

    assert ids(first) == ["p5", "p4"]
    assert ids(second) == ["p3", "p1", "p0"]
    assert [hit.rank for hit in second.hits] == [3, 4, 5]
    assert second.following is None


async def test_documents_are_bounded_and_grouped_in_the_final_order() -> None:
    """The best passages after reranking stay, together; a page holds whole documents."""
    bench = Bench()
    # Turned round by the reranker.
    bench.retriever.found = ["c-1", "b-2", "a-3", "a-2", "c-2", "b-1", "a-1"]
    both = {"limit": 2, "group_by_document": True, "passages_per_document": 2}

    grouped = await walked(bench, **both)
    bounded = await walked(bench, limit=2, passages_per_document=1)

    assert [ids(page) for page in grouped] == [["a-1", "a-2", "b-1", "b-2"], ["c-2", "c-1"]]
    assert [hit.rank for page in grouped for hit in page.hits] == [1, 2, 3, 4, 5, 6]
    assert [page.total_count for page in grouped] == [3, 3]
    assert [ids(page) for page in bounded] == [["a-1", "b-1"], ["c-2"]]


FORGED: list[object] = [
    None,
    {},
    [2, "", 0, 0, [["x", 1, 1]], ["p1"]],
    [1, "", -1, 0, [["x", 1, 1]], ["p1"]],
    [1, "", 0, 0, [], ["p1"]],
    [1, "", 0, 0, [["x", 1, 1]] * 9, ["p1"]],
    [1, "", 0, 0, [[" ", 1, 1]], ["p1"]],
    [1, "", 0, 0, [["x", -1, 1]], ["p1"]],
    [1, "", 0, 0, [["x", 1, 1]], [7]],
    [1, "another", 0, 0, [["x", 1, 1]], ["p1"]],
]


@pytest.mark.parametrize(
    "token",
    [
        "x",
        "é",
        "A" * 100_000,
        base64.urlsafe_b64encode(b"not json").decode(),
        *(base64.urlsafe_b64encode(orjson.dumps(parts)).decode() for parts in FORGED),
    ],
)
async def test_tokens_that_are_none_are_refused(token: str) -> None:
    """By name, before any service is called."""
    bench = Bench()
    with pytest.raises(InvalidArgument, match="page_token") as caught:
        await bench.ask(QUERY, page_token=token)

    assert caught.value.field == "page_token"
    assert bench.retriever.described == []


@pytest.mark.parametrize(
    "other",
    [
        {"passages_per_document": 1},
        {"group_by_document": True},
        {"candidate_count": 50},
        {"context": {"week": 12.0}},
    ],
)
async def test_a_token_belongs_to_its_question(other: dict[str, object]) -> None:
    """Another question, or another option of it, needs a first page of its own."""
    bench = Bench()
    token = following_token(await bench.ask(QUERY, limit=1), limit=1)
    with pytest.raises(InvalidArgument, match="another question"):
        await bench.ask(QUERY, page_token=token, **other)
    with pytest.raises(InvalidArgument, match="another question"):
        await bench.ask("autre", page_token=token)


async def test_the_length_of_lists_can_be_asked_for() -> None:
    """In place of the switch's."""
    bench = Bench()
    await bench.ask(QUERY, candidate_count=150)
    await bench.ask(QUERY)

    assert [search.candidate_count for search in bench.retriever.searches] == [150, 20]


async def test_both_doors_turn_pages(
    http: httpx.AsyncClient, channel: grpc.aio.Channel, mesh: MeshOfFakes
) -> None:
    """With totals, highlights and the end of the window; a bad token is a bad request."""
    mesh.retriever.window_cut = True
    asked = {"workspace": "negoce", "query": "texte p3", "limit": 2, "highlight": True}
    first = (await http.post("/v1/search", json=asked)).json()
    second = (
        await http.post("/v1/search", json={**asked, "page_token": first["next_page_token"]})
    ).json()
    stub = search_pb2_grpc.SearchServiceStub(channel)
    request = search_pb2.SearchPassagesRequest(**asked)  # type: ignore[arg-type]
    over_grpc = await stub.SearchPassages(request)
    request.page_token = over_grpc.next_page_token
    last = await stub.SearchPassages(request)
    refused = await http.post("/v1/search", json={**asked, "page_token": "x"})

    assert [[hit["passage_id"] for hit in page["hits"]] for page in (first, second)] == [
        ["p3", "p2"],
        ["p1"],
    ]
    assert (first["total_count"], first["window_cut"], second["next_page_token"]) == (3, True, "")
    # "Texte de p3."
    assert first["hits"][0]["highlights"] == [{"start": 0, "end": 5}, {"start": 9, "end": 11}]
    assert [hit.passage_id for page in (over_grpc, last) for hit in page.hits] == ["p3", "p2", "p1"]
    assert [(span.start, span.end) for span in last.hits[0].highlights] == [(0, 5)]
    assert (last.total_count, last.window_cut, last.next_page_token) == (3, True, "")
    assert refused.status_code == 400
    assert refused.json()["error"]["field_violations"][0]["field"] == "page_token"


async def test_highlights_are_made_only_if_asked_for() -> None:
    """For every wording searched with."""
    bench = Bench(FakeRewriter(rewritten="p2"))
    plain = await bench.ask("texte")
    marked = await bench.ask("texte", highlight=True)

    assert {hit.highlights for hit in plain.hits} == {()}
    assert [hit.highlights for hit in marked.hits if hit.fused.passage_id == "p2"] == [
        (TextSpan(0, 5), TextSpan(9, 11))
    ]


def _placed(passage_ids: Sequence[str]) -> list[Hit]:
    return [
        Hit(rank, fused_hit(passage_id, rank), ())
        for rank, passage_id in enumerate(passage_ids, start=1)
    ]


@given(
    documents=st.lists(st.integers(0, 4), max_size=20),
    bound=st.integers(0, 3),
    grouped=st.booleans(),
    size=st.integers(1, 5),
)
def test_pages_hold_what_one_page_would(
    documents: list[int], bound: int, grouped: bool, size: int
) -> None:
    """Whatever the page size; what follows a page is arranged as it was with the page."""
    passage_ids = [f"{document}-{place}" for place, document in enumerate(documents)]

    def first(of: Sequence[str], limit: int) -> tuple[list[str], tuple[str, ...]]:
        question = Question(
            "negoce", QUERY, limit, passages_per_document=bound, group_by_document=grouped
        )
        page = page_of(_placed(of), of, question, None)
        return [hit.fused.passage_id for hit in page.hits], page.following_ids

    whole, _ = first(passage_ids, 100)
    shown, rest = first(passage_ids, size)
    while rest:
        more, rest = first(rest, size)
        shown += more

    assert shown == whole
