"""What operators see of the switches."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

from chassis import clock as clocks
from chassis.clock import Clock
from gateway.switches.board import BoardState


class SwitchMetrics:
    """Age and health of the values in force, and the variants that rollouts make."""

    def __init__(self, registry: CollectorRegistry, clock: Clock = clocks.monotonic) -> None:
        self._clock = clock
        self._read_at = clock()
        self._age = Gauge(
            "justesse_switches_age_seconds",
            "Seconds since the switches were last read from the database, or since the start.",
            registry=registry,
        )
        self._age.set_function(lambda: self._clock() - self._read_at)
        self._failed = Gauge(
            "justesse_switches_refresh_failed",
            "1 if the last refresh could not read them (part: values or rules), else 0.",
            ("part",),
            registry=registry,
        )
        self._refused = Gauge(
            "justesse_switches_refused",
            "1 for a switch whose value in the database is refused, else 0.",
            ("config_key",),
            registry=registry,
        )
        self.variants = Counter(
            "justesse_switch_variant_queries",
            "Queries while rollouts are on, by what these made of them.",
            ("variant",),
            registry=registry,
        )

    def refreshed(self, board: BoardState, *, rules_lost: bool) -> None:
        """Notes how a refresh went."""
        if not board.refresh_error:
            self._read_at = self._clock()
        self._failed.labels("values").set(bool(board.refresh_error))
        self._failed.labels("rules").set(rules_lost)
        for switch in board.switches:
            self._refused.labels(switch.definition.key).set(bool(switch.error))
