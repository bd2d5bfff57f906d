"""Hits come with the blocks that they are parts of, where that is asked for."""

from chassis.errors import Unavailable
from gateway.documents import Parent
from gateway.questions import Hit
from gateway.wire.search import write_hit
from justesse.gateway.v1 import search_pb2
from tests.fakes.gateway_services.bench import Bench, ids

BLOCK = Parent("Tout le bloc.", 4, 3)


def parents(hits: tuple[Hit, ...]) -> dict[str, Parent | None]:
    """The block of each hit."""
    return {hit.fused.passage_id: hit.parent for hit in hits}


async def test_blocks_are_read_for_the_hits_of_the_page_only() -> None:
    """A passage that stands alone has none; who does not ask gets none."""
    bench = Bench()
    bench.retriever.parents = {"p3": BLOCK, "p1": BLOCK}
    asked = await bench.ask(limit=2, include_parents=True)
    outcomes = bench.outcomes()
    bare = await bench.ask(limit=2)

    assert parents(asked.hits) == {"p3": BLOCK, "p2": None}
    assert "parents" not in outcomes
    assert parents(bare.hits) == {"p3": None, "p2": None}


async def test_lost_blocks_cost_the_blocks_alone() -> None:
    """The hits stay, and the receipt says what lacks."""
    bench = Bench()
    bench.retriever.parents_error = Unavailable("gone", reason="GONE")
    asked = await bench.ask(include_parents=True)

    assert ids(asked) == ["p3", "p2", "p1"]
    assert set(parents(asked.hits).values()) == {None}
    assert bench.outcomes()["parents"] == "DEGRADED"
    assert bench.reports["parents"].reason == "GONE"


async def test_blocks_cross_the_wire() -> None:
    """A hit without one has no field."""
    bench = Bench()
    bench.retriever.parents = {"p3": BLOCK}
    first, second, _ = (await bench.ask(include_parents=True)).hits

    with_block, bare = search_pb2.Hit(), search_pb2.Hit()
    write_hit(with_block, first)
    write_hit(bare, second)
    block = with_block.parent
    assert (block.text, block.first_chunk_index, block.passage_count) == ("Tout le bloc.", 4, 3)
    assert not bare.HasField("parent")
