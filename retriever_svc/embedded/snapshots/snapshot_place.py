"""Where a dense index belongs, and the graphs it has at one moment."""

from dataclasses import dataclass

from retriever_svc.embedded.dense.graph_segment import GraphSegment


@dataclass(frozen=True, slots=True)
class SnapshotPlace:
    """Names the dense index of one workspace and space; ids of either are never given again."""

    workspace_id: int
    space_key: int
    space_id: str
    dimension: int


@dataclass(frozen=True, slots=True)
class SealedGraphs:
    """Holds the graph segments of an index after change number `seq` of its workspace."""

    place: SnapshotPlace
    seq: int
    segments: tuple[GraphSegment, ...]
