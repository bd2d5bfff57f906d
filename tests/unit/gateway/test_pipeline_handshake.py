"""What happens when a workspace's spaces are not those the gateway remembers."""

from __future__ import annotations

from tests.fakes.gateway_services.bench import Bench
from tests.fakes.gateway_services.models import FakeRewriter
from tests.fakes.gateway_services.spaces import OTHER_SPACE, SPACE


async def test_new_spaces_are_embedded_for_and_asked_once_more() -> None:
    """The second search carries vectors of the new space and the new version."""
    bench = Bench()
    await bench.ask("un")
    bench.retriever.add_workspace("negoce", (SPACE, OTHER_SPACE))

    await bench.ask("deux")

    first, second = bench.retriever.searches[1:]
    assert (first.spaces_version, second.spaces_version) == (1, 2)
    assert {query.space_id for query in second.variants[0].vectors} == {
        SPACE.space_id,
        OTHER_SPACE.space_id,
    }
    assert bench.outcomes()["embed"] == "RAN"
    assert bench.outcomes()["search"] == "RAN"
    assert bench.reports["search"].reason == ""
    assert "once more" in bench.reports["search"].detail
    assert "BM25" not in bench.reports["search"].detail


async def test_every_variant_is_embedded_for_the_new_spaces() -> None:
    """The rewritten wording takes part in the second search as in the first."""
    bench = Bench(FakeRewriter(rewritten="retard port"))
    await bench.ask("un")
    bench.retriever.add_workspace("negoce", (OTHER_SPACE,))

    await bench.ask("deux")

    variants = bench.retriever.searches[-1].variants
    assert [variant.text for variant in variants] == ["deux", "retard port"]
    assert [[query.space_id for query in variant.vectors] for variant in variants] == [
        [OTHER_SPACE.space_id],
        [OTHER_SPACE.space_id],
    ]


async def test_new_spaces_are_remembered() -> None:
    """The next question needs one search only."""
    bench = Bench()
    await bench.ask("un")
    bench.retriever.add_workspace("negoce", (OTHER_SPACE,))
    await bench.ask("deux")

    await bench.ask("trois")

    assert len(bench.retriever.searches) == 4
    assert bench.retriever.searches[-1].spaces_version == 2
    assert bench.retriever.described == ["negoce"]


async def test_the_first_vectors_of_a_workspace_are_noticed() -> None:
    """A workspace known to hold no vectors is embedded for as soon as it holds some."""
    bench = Bench()
    bench.retriever.add_workspace("negoce", ())
    await bench.ask("un")
    bench.retriever.add_workspace("negoce", (SPACE,))

    await bench.ask("deux")

    assert bench.retriever.searches[-1].variants[0].vectors
    assert bench.outcomes()["embed"] == "RAN"


async def test_spaces_that_change_twice_degrade_the_search() -> None:
    """The retriever is asked twice at most; BM25's answer is given and the receipt says so."""
    bench = Bench()
    bench.retriever.outdated_answers = 2

    retrieval = await bench.ask()

    assert len(bench.retriever.searches) == 2
    assert retrieval.hits
    assert bench.outcomes()["search"] == "DEGRADED"
    assert bench.reports["search"].reason == "SPACES_CHANGED"
    assert "BM25 alone answered" in bench.reports["search"].detail
