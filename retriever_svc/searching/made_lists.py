"""Lists of a search side by side, as the fusion needs them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from retriever_svc.fusion import Ranking
from retriever_svc.searches import RankedList


@dataclass(slots=True)
class MadeLists:
    """Holds lists side by side: their descriptions, and what the fusion needs of them."""

    descriptions: list[RankedList] = field(default_factory=list)
    rankings: list[Ranking] = field(default_factory=list)
    original_bm25: Mapping[int, float] = field(default_factory=dict)
    """BM25 scores of the original wording that came with its list."""
    original_cosines: dict[str, Mapping[int, float]] = field(default_factory=dict)
    """Cosines of the original wording that came with its lists, by space."""

    def add(
        self, variant_index: int, space_id: str, ranking: Ranking, *, exact: bool = True
    ) -> None:
        """Adds a list; an empty space id stands for BM25."""
        self.rankings.append(ranking)
        self.descriptions.append(
            RankedList(variant_index, space_id, len(ranking.ids), exact, ranking.weight)
        )

    def cut_at(self, candidate_count: int) -> bool:
        """Whether a list is as long as it may be, so that more passages may match."""
        return any(len(ranking.ids) >= candidate_count for ranking in self.rankings)
