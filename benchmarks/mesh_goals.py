"""What the figures of the gateway and of the whole mesh are meant to reach."""

from collections.abc import Sequence

from benchmarks.gateway_hops import CACHED as CACHED_BEFORE_STAGES
from benchmarks.gateway_hops import CALLS
from benchmarks.gateway_hops import NEW as NEW_BEFORE_STAGES
from benchmarks.goals import Goal
from benchmarks.mesh_hops import CACHED, NEW, RETRIEVER

_HOPS = "over the core, hops"

_WHOLE: Sequence[Goal] = (
    Goal(
        "whole search beyond the core, new query, hops", "mesh_hops", f"{NEW}, {_HOPS}", at_most=6
    ),
    Goal(
        "whole search beyond the core, query vector cached, hops",
        "mesh_hops",
        f"{CACHED}, {_HOPS}",
        at_most=4,
    ),
    Goal(
        "one call of the retriever beyond the core, hops",
        "mesh_hops",
        f"{RETRIEVER}, {_HOPS}",
        at_most=2.5,
    ),
    Goal(
        "CPU time of all services over the core, query vector cached",
        "mesh_hops",
        f"{CACHED}, CPU / core",
        at_most=6,
    ),
    Goal(
        "CPU time of all services over a chain of three echo servers",
        "mesh_hops",
        f"{CACHED}, CPU / chain",
    ),
)


def _gateway(kind: str, hops: int) -> Sequence[Goal]:
    return (
        Goal(
            f"{kind}: gateway beyond a chain of {hops} echo hops, hops",
            "gateway_hops",
            f"{kind}: gateway beyond its chain, hops",
        ),
        *(
            Goal(
                f"{kind}: searches/s over the chain's calls/s, {callers} in flight",
                "gateway_hops",
                f"{kind}: {callers} callers, calls/s / chain",
            )
            for callers in CALLS
        ),
        Goal(
            f"{kind}: CPU time of the gateway over the chain's front",
            "gateway_hops",
            f"{kind}: gateway process, CPU / front of the chain",
        ),
    )


def _overload(where: str, benchmark: str) -> Sequence[Goal]:
    return (
        Goal(
            f"ten times the peak {where}: answered, searches/s over the peak",
            benchmark,
            "answered in the flood, searches/s / peak",
            at_least=0.9,
        ),
        Goal(
            f"ten times the peak {where}: p99 of the answered over that at the peak",
            benchmark,
            "p99 of the answered / at the peak",
            at_most=2,
        ),
        Goal(
            f"ten times the peak {where}: memory after over before",
            benchmark,
            "memory after / before",
            at_most=1.2,
        ),
        Goal(
            f"ten times the peak {where}: calls that ended otherwise than answered or refused",
            benchmark,
            "refused for other reasons than overload",
            at_most=0,
        ),
        Goal(
            f"ten times the peak {where}: seconds until a search takes its time again",
            benchmark,
            "seconds until a search takes its time again",
            at_most=5,
        ),
    )


_STAGES: Sequence[Goal] = (
    Goal(
        "built-in model, new query: the embedder's share of the time",
        "stage_costs",
        "new query: share of the embedder",
    ),
    Goal(
        "built-in model: new query over a cached query vector",
        "stage_costs",
        "new query / query vector cached, time of the whole search",
    ),
    Goal(
        "reranking by the formula over none, cached query vector",
        "stage_costs",
        "reranking by the formula / no reranking, time of the whole search",
    ),
    Goal(
        "rewriter called for a glossary entry over resting, cached query vectors",
        "stage_costs",
        "rewriter called / resting, time of the whole search",
    ),
    Goal(
        "formula over a sort of as many scores",
        "reranking_formula",
        "formula / sort",
    ),
)

MESH_GOALS: Sequence[Goal] = (
    *_WHOLE,
    *_gateway(CACHED_BEFORE_STAGES, 3),
    *_gateway(NEW_BEFORE_STAGES, 4),
    *_overload("on the whole mesh", "mesh_overload"),
    *_overload("on a gateway of eight places", "gateway_overload"),
    *_STAGES,
)
