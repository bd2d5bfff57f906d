"""Which graphs of an index hold rows that were dead when a purge was asked for."""

from collections.abc import Iterable

from retriever_svc.embedded.dense.graph_segment import GraphSegment


class PurgeMarks:
    """Marks graphs that must be built anew; rows that die later do not count."""

    def __init__(self) -> None:
        self._marked: list[GraphSegment] = []
        # A graph that is being built, or read from disk, may hold such rows too.
        self._next_marked = False
        self._asked = True

    @property
    def clean(self) -> bool:
        """Whether no graph is marked, and a purge was asked for since the last `doubt`."""
        return self._asked and not self._next_marked and not self._marked

    def doubt(self) -> None:
        """Notes that there may be graphs on disk that nobody has looked at."""
        self._asked = False

    def ask(self, graphs: Iterable[GraphSegment], *, building: bool) -> None:
        """Begins a purge of these graphs, and of the one that is being built."""
        self._asked = True
        self._marked = [graph for graph in graphs if graph.live_count < graph.row_count]
        self._next_marked = building

    def arrived(self, graphs: Iterable[GraphSegment]) -> None:
        """Looks at the graphs that a build, or a disk, has brought."""
        if self._next_marked:
            self._next_marked = False
            self._marked += [graph for graph in graphs if graph.live_count < graph.row_count]

    def failed(self) -> None:
        """Notes that a build came to nothing."""
        self._next_marked = False

    def first(self, graphs: Iterable[GraphSegment]) -> GraphSegment | None:
        """Returns a marked graph; forgets marks of those that are not among `graphs` any more."""
        held = set(graphs)
        self._marked = [graph for graph in self._marked if graph in held]
        return self._marked[0] if self._marked else None
