"""The values of the switches in force, read again and again, and never lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum

import structlog

from chassis import clock as clocks
from chassis.clock import Clock
from chassis.errors import InvalidArgument, NotFound, Unavailable
from gateway.switches.table import SwitchTable, SwitchTableError
from gateway.switches.values import (
    DEFINITIONS,
    HYBRID_CANDIDATES,
    HYBRID_SEARCH,
    QUERY_REWRITE,
    RERANK_CANDIDATES,
    RERANKING,
    SwitchDefinition,
    SwitchValue,
    SwitchValues,
    written,
)

_log = structlog.get_logger("gateway.switches")


class SwitchOrigin(Enum):
    """Where a value in force comes from."""

    DEFAULT = "default"
    DATABASE = "database"
    LAST_GOOD = "last_good"


@dataclass(frozen=True, slots=True)
class SwitchState:
    """One switch: the value in force, and why what the table holds was refused."""

    definition: SwitchDefinition
    value: SwitchValue
    origin: SwitchOrigin
    error: str = ""


@dataclass(frozen=True, slots=True)
class BoardState:
    """All switches by key; `refresh_time` is the last good read, `age_s` the seconds since then.

    Both are None before the first one.
    """

    switches: tuple[SwitchState, ...]
    refresh_time: datetime | None
    refresh_error: str
    age_s: float | None = None


class SwitchBoard:
    """Holds the values in force, starting with the defaults.

    A value that the table holds and that can be read is in force. One that is refused, and every
    value while the table cannot be read, stays as it last was; a row that is not there means the
    default.
    """

    def __init__(
        self,
        table: SwitchTable,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Clock = clocks.monotonic,
    ) -> None:
        self._table = table
        self._now = now
        self._clock = clock
        self._states = {
            key: SwitchState(definition, definition.default, SwitchOrigin.DEFAULT)
            for key, definition in DEFINITIONS.items()
        }
        self._values = SwitchValues()
        self._refresh_time: datetime | None = None
        self._read_at: float | None = None
        self._refresh_error = ""
        self._found: Mapping[str, str | None] = {}
        self._prepared = False
        self._one_at_a_time = asyncio.Lock()

    def values(self) -> SwitchValues:
        """Returns the values in force."""
        return self._values

    def state(self) -> BoardState:
        """Returns all switches and how the last refresh went."""
        return BoardState(
            tuple(self._states.values()),
            self._refresh_time,
            self._refresh_error,
            None if self._read_at is None else self._clock() - self._read_at,
        )

    def found(self) -> Mapping[str, str | None]:
        """Returns what the table held when it was last read, as text; None for a missing row.

        A key that it held more than once, with different values, is left out.
        """
        return self._found

    async def refresh(self) -> BoardState:
        """Reads the table at once; a table that cannot be read is no error and changes nothing."""
        async with self._one_at_a_time:
            try:
                rows = await self._read()
            except SwitchTableError as error:
                self._note_lost_table(str(error))
            else:
                self._take(rows)
            return self.state()

    async def set(self, key: str, text: str) -> SwitchState:
        """Writes one value and refreshes.

        NotFound: no such switch. InvalidArgument: wrong type or range. Unavailable: the database
        cannot be written.
        """
        definition = DEFINITIONS.get(key)
        if definition is None:
            raise NotFound(
                f"there is no switch {key!r}; there are {', '.join(DEFINITIONS)}",
                reason="SWITCH_NOT_FOUND",
            )
        try:
            value = definition.read(text)
        except ValueError as error:
            raise InvalidArgument(f"{key}: {error}", field="value") from error
        try:
            async with self._one_at_a_time:
                await self._prepare_once()
                await self._table.write(key, written(value))
        except SwitchTableError as error:
            raise Unavailable(
                f"the switch cannot be written: {error}", reason="SWITCH_DATABASE_LOST"
            ) from error
        _log.info("switch set", key=key, value=written(value))
        await self.refresh()
        return self._states[key]

    async def _read(self) -> list[tuple[str, object]]:
        await self._prepare_once()
        return await self._table.read()

    async def _prepare_once(self) -> None:
        """Prepares the table at the first contact only: one lost later must not come back empty."""
        if self._prepared:
            return
        try:
            await self._table.prepare()
        except SwitchTableError as error:
            # A table that may be read and not written is enough.
            _log.warning("switch table not prepared", error=str(error))
            await self._table.read()
        self._prepared = True

    def _note_lost_table(self, error: str) -> None:
        _log.warning("switches not refreshed; the last good values stay", error=error)
        self._refresh_error = error
        self._states = {key: _kept(state) for key, state in self._states.items()}

    def _take(self, rows: list[tuple[str, object]]) -> None:
        found: dict[str, list[object]] = {}
        for key, value in rows:
            found.setdefault(key, []).append(value)
        self._found = {
            key: _text(values[0]) if (values := found.get(key)) else None
            for key in DEFINITIONS
            if len({str(value) for value in found.get(key, ())}) <= 1
        }
        self._states = {
            key: _judged(state, found.get(key, [])) for key, state in self._states.items()
        }
        for state in self._states.values():
            if state.error:
                _log.warning("switch refused", key=state.definition.key, error=state.error)
        self._values = _values_of(self._states)
        self._refresh_time, self._read_at = self._now(), self._clock()
        self._refresh_error = ""


def _kept(state: SwitchState, error: str = "") -> SwitchState:
    known = state.origin is not SwitchOrigin.DEFAULT
    origin = SwitchOrigin.LAST_GOOD if known else SwitchOrigin.DEFAULT
    return replace(state, origin=origin, error=error or state.error)


def _judged(state: SwitchState, values: list[object]) -> SwitchState:
    """Returns the state after the table gave these values for the key."""
    definition = state.definition
    if not values:
        return SwitchState(definition, definition.default, SwitchOrigin.DEFAULT)
    if len({str(value) for value in values}) > 1:
        return _kept(state, "the table holds the key more than once, with different values")
    try:
        value = definition.read(_text(values[0]))
    except ValueError as error:
        return _kept(state, str(error))
    return SwitchState(definition, value, SwitchOrigin.DATABASE)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _values_of(states: Mapping[str, SwitchState]) -> SwitchValues:
    return SwitchValues(
        query_rewrite_enabled=bool(states[QUERY_REWRITE.key].value),
        hybrid_search_enabled=bool(states[HYBRID_SEARCH.key].value),
        reranking_enabled=bool(states[RERANKING.key].value),
        hybrid_candidate_count=int(states[HYBRID_CANDIDATES.key].value),
        rerank_candidate_count=int(states[RERANK_CANDIDATES.key].value),
    )
