"""Finds the passages that fulfil a condition, once for each state of the workspace."""

import sqlite3
from collections import OrderedDict

from retriever_svc.embedded.dense.subset import Subset
from retriever_svc.embedded.store.filter_queries import passages_that_fulfil
from retriever_svc.filters import Filter

_CAPACITY = 16


class Subsets:
    """Keeps the latest subsets of one workspace; used by the search thread alone."""

    def __init__(self, workspace_id: int) -> None:
        self._workspace_id = workspace_id
        self._kept: OrderedDict[str, Subset] = OrderedDict()
        self._seq = -1

    def of(self, connection: sqlite3.Connection, seq: int, condition: Filter) -> Subset:
        """Returns the passages that fulfil the condition after change number `seq`.

        `connection` must see the workspace in that state.
        """
        if seq != self._seq:
            self._kept.clear()
            self._seq = seq
        # As text: the conditions themselves are equal where a truth value stands for a number.
        key = repr(condition)
        subset = self._kept.get(key)
        if subset is None:
            subset = Subset(passages_that_fulfil(connection, self._workspace_id, condition))
            self._kept[key] = subset
            if len(self._kept) > _CAPACITY:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return subset
