"""What keeps a flood away from admission, which is fair and takes its time with each call."""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog

from chassis.errors import ResourceExhausted
from gateway.admission.admission import Admission

CONSIDERED_A_SECOND = 200.0
"""Calls a second that admission looks at while its queue is full: at a third of a millisecond each,
less than a tenth of the processor."""
_MOST_AT_ONCE = 50.0
_LOG_PAUSE_S = 10.0

_log = structlog.get_logger("gateway.admission")


class AdmissionFloodgate:
    """Sheds calls while the queue of an admission is full, but for so many a second.

    Those few are considered as always, so that workspaces keep their turns also in a flood of one
    of them. Implements the `Floodgate` of the gRPC server; both doors share it.
    """

    def __init__(self, admission: Admission, clock: Callable[[], float] = time.monotonic) -> None:
        self.refusal = ResourceExhausted(
            "more calls come than the gateway can even look at: come again later",
            retry_after_s=admission.limits.longest_wait_s,
            reason="OVERLOADED",
        )
        self._admission = admission
        self._clock = clock
        self._considerable = _MOST_AT_ONCE
        self._counted_at = clock()
        self._shed_count = 0
        self._logged_at: float | None = None

    def sheds(self) -> bool:
        """Says whether the call that comes now is shed, and counts it if so."""
        if not self._admission.is_full:
            return False
        now = self._clock()
        gained = CONSIDERED_A_SECOND * (now - self._counted_at)
        self._considerable = min(_MOST_AT_ONCE, self._considerable + gained)
        self._counted_at = now
        if self._considerable >= 1.0:
            self._considerable -= 1.0
            return False
        self._admission.count_refused("shed")
        self._log(now)
        return True

    def _log(self, now: float) -> None:
        self._shed_count += 1
        if self._logged_at is None or now - self._logged_at >= _LOG_PAUSE_S:
            _log.warning("calls are shed", calls=self._shed_count)
            self._logged_at, self._shed_count = now, 0
