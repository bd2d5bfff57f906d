"""Builds the BM25 index of a workspace anew, aside, without what is deleted.

The store is read in short steps, so that no reader holds back the write-ahead log. What changes
meanwhile is caught up with in rounds, the last of them in the moment of the exchange.
"""

import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from threading import Event

from retriever_svc.embedded.lexical.lexical_index import LexicalIndex
from retriever_svc.embedded.lexical.term_index import TermIndex
from retriever_svc.embedded.store.passage_rows import (
    lexical_entries_of,
    lexical_entries_since,
    passage_ids_of_workspace,
)
from retriever_svc.embedded.store.workspace_rows import read_workspace, removals_since
from retriever_svc.store.rows import WorkspaceRow

_STEP = 100
_ROUND_LIMIT = 10
# So few changes are caught up with in the moment of the exchange.
_FEW_CHANGES = 16


class CompactionStopped(Exception):  # noqa: N818 - no error: somebody asked for it
    """Says that a compaction was given up."""


@dataclass(frozen=True, slots=True)
class _Running:
    workspace_id: int
    index: LexicalIndex
    terms: TermIndex
    floor: int
    """Removals after this change must stay known until the end."""
    stop: Event
    built: "Future[int]"
    """Number of the last change that the new index has."""


class LexicalCompactor:
    """Compacts one index at a time on a thread of its own; used by the writer thread."""

    def __init__(self, open_reader: Callable[[], sqlite3.Connection]) -> None:
        """`open_reader` gives connections to the store that only read."""
        self._open_reader = open_reader
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="lexical-compactor")
        self._running: _Running | None = None

    @property
    def workspace_id(self) -> int | None:
        """The workspace whose index is being built; None while there is nothing to `finish`."""
        return None if self._running is None else self._running.workspace_id

    @property
    def ready(self) -> bool:
        """Whether `finish` would not wait."""
        return self._running is not None and self._running.built.done()

    def floor(self, workspace_id: int) -> int | None:
        """Returns the number of the change whose later removals must stay in the store."""
        running = self._running
        return running.floor if running and running.workspace_id == workspace_id else None

    def begin(self, index: LexicalIndex, workspace: WorkspaceRow) -> None:
        """Begins to build; only while no other workspace is being compacted.

        `workspace` is as the store has it now. `finish` or `abandon` must follow.
        """
        terms, stop = index.begun_aside(), Event()
        built = self._executor.submit(self._build, terms, workspace, stop)
        self._running = _Running(workspace.id, index, terms, workspace.seq, stop, built)

    def finish(self, connection: sqlite3.Connection, workspace: WorkspaceRow) -> None:
        """Waits for the new index, catches up, and puts it in place of the old one.

        `connection` must see the workspace as `workspace` says. After an error the old index is
        still in its place.
        """
        assert self._running is not None
        running, self._running = self._running, None
        seq = running.built.result()
        try:
            _apply_changes(running.terms, connection, workspace, seq)
            running.index.exchange(running.terms, workspace.seq)
        except BaseException:
            _remove(running.terms)
            raise

    def abandon(self, workspace_id: int) -> None:
        """Gives up the compaction of this workspace, if it runs."""
        running = self._running
        if running is None or running.workspace_id != workspace_id:
            return
        self._running = None
        running.stop.set()
        with suppress(Exception):
            running.built.result()
            _remove(running.terms)

    def close(self) -> None:
        """Gives up what runs and ends the thread."""
        if self._running is not None:
            self.abandon(self._running.workspace_id)
        self._executor.shutdown()

    def _build(self, terms: TermIndex, workspace: WorkspaceRow, stop: Event) -> int:
        try:
            with closing(self._open_reader()) as connection:
                self._take_in_all(terms, connection, workspace.id, stop)
                # Whatever changed since then has a greater number, and is taken in again.
                seq = workspace.seq
                for _ in range(_ROUND_LIMIT):
                    seen = _caught_up(terms, connection, workspace.id, seq)
                    few, seq = seen - seq <= _FEW_CHANGES, seen
                    if few:
                        break
                return seq
        except BaseException:
            _remove(terms)
            raise

    def _take_in_all(
        self, terms: TermIndex, connection: sqlite3.Connection, workspace_id: int, stop: Event
    ) -> None:
        ids = passage_ids_of_workspace(connection, workspace_id)
        for first in range(0, len(ids), _STEP):
            begun = time.perf_counter()
            # Read to the end before they are analysed: the read ends at once.
            entries = list(lexical_entries_of(connection, workspace_id, ids[first : first + _STEP]))
            terms.apply((), entries)
            # Half of the time is left to whoever changes and searches.
            if stop.wait(time.perf_counter() - begun):
                raise CompactionStopped


def _caught_up(
    terms: TermIndex, connection: sqlite3.Connection, workspace_id: int, seq: int
) -> int:
    """Takes in the changes after number `seq`; returns the number of the last one."""
    connection.execute("BEGIN")
    try:
        workspace = read_workspace(connection, workspace_id)
        _apply_changes(terms, connection, workspace, seq)
    finally:
        connection.execute("ROLLBACK")
    terms.commit()
    return workspace.seq


def _apply_changes(
    terms: TermIndex, connection: sqlite3.Connection, workspace: WorkspaceRow, seq: int
) -> None:
    if workspace.seq == seq:
        return
    removed = removals_since(connection, workspace.id, seq)
    if removed is None:
        raise RuntimeError(f"removals after change {seq} are forgotten; the index is not used")
    terms.apply(removed, list(lexical_entries_since(connection, workspace.id, seq)))


def _remove(terms: TermIndex) -> None:
    # What stays is swept when the index is opened again.
    with suppress(OSError, ValueError):
        terms.remove()
