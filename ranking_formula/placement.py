"""New orders of some candidates, put into the fused order of all."""

from collections.abc import Iterable, Sequence


def placed(count: int, groups: Iterable[Sequence[int]]) -> list[int]:
    """Returns the indices 0 to count - 1 in their new order.

    Each group lists indices, best first. Its r-th best takes the r-th of the places that its
    members held; indices in no group keep theirs. No index is in two groups.
    """
    order = list(range(count))
    for best_first in groups:
        for place, index in zip(sorted(best_first), best_first, strict=True):
            order[place] = index
    return order
