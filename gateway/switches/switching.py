"""The switches in force for each query, kept true to the database on every replica."""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from chassis.errors import ServiceError
from gateway.switches.board import BoardState, SwitchBoard
from gateway.switches.rule_store import RuleStore
from gateway.switches.rules import SwitchChoice, SwitchRules
from gateway.switches.switch_metrics import SwitchMetrics

_log = structlog.get_logger("gateway.switches")


@dataclass(frozen=True, slots=True)
class SwitchingState:
    """The switches, the rules beside them, and why the latter could not be read; empty if not."""

    board: BoardState
    rules: SwitchRules
    rules_error: str


class Switching:
    """Chooses values for queries by the switches' table and by the rules beside it.

    What cannot be read stays as it last was, values and rules each for themselves: a database in
    which our own tables cannot be made still has its switches obeyed.
    """

    def __init__(
        self, board: SwitchBoard, store: RuleStore, metrics: SwitchMetrics | None = None
    ) -> None:
        self._board = board
        self._store = store
        self._metrics = metrics
        self._rules = SwitchRules()
        self._rules_error = ""
        self._read_version: int | None = None

    @property
    def store(self) -> RuleStore:
        """Where the rules and the audit are kept."""
        return self._store

    @property
    def board(self) -> SwitchBoard:
        """The switches' table."""
        return self._board

    def choice(self, workspace: str, query: str) -> SwitchChoice:
        """Returns the values for a query; asks nobody."""
        choice = self._rules.choice(self._board.values(), workspace, query)
        if choice.variant and self._metrics is not None:
            self._metrics.variants.labels(choice.variant).inc()
        return choice

    def state(self) -> SwitchingState:
        """Returns what is in force, and how the last refresh went."""
        return SwitchingState(self._board.state(), self._rules, self._rules_error)

    async def refresh(self) -> SwitchingState:
        """Reads everything at once; what cannot be read is no error and changes nothing.

        What somebody changed in the table by other ways is noted in the audit.
        """
        board = await self._board.refresh()
        try:
            self._rules = await self._store.read()
            self._read_version = self._rules.version
            self._rules_error = ""
            if not board.refresh_error:
                await self._store.note_values(self._board.found())
        except ServiceError as error:
            _log.warning("switch rules not refreshed; the last good ones stay", error=str(error))
            self._rules_error = str(error)
        if self._metrics is not None:
            self._metrics.refreshed(board, rules_lost=bool(self._rules_error))
        return self.state()

    async def refresh_everywhere(self) -> SwitchingState:
        """Refreshes here, and has the other replicas do so within seconds."""
        try:
            await self._store.announce()
        except ServiceError as error:
            _log.warning("refresh of the switches not announced", error=str(error))
        return await self.refresh()

    async def follow(self) -> None:
        """Refreshes if another replica has changed or announced something since the last time."""
        try:
            version = await self._store.version()
        except ServiceError:
            # The next refresh meets the same loss, and tells of it.
            return
        if version != self._read_version:
            await self.refresh()
