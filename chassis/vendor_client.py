"""Calls a vendor's HTTP API with patience that ends.

Every call has a deadline that nothing outlives: not a slow answer, not a retry, not a pause that
the vendor asks for. Before each attempt the rate limiter and the circuit breaker are asked, after
each failure the retry budget; a pause that a 429 asks for holds for everybody who shares the
limiter.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

import orjson
import tenacity
from opentelemetry.trace import SpanKind
from tenacity.stop import stop_base

from chassis import clock as clocks
from chassis.circuit_breaker import BreakerState, CircuitBreaker
from chassis.clock import Clock, Sleep
from chassis.deadline import Deadline, current_deadline
from chassis.errors import DeadlineExceeded
from chassis.patience import Patience
from chassis.rate_limiter import RateLimiter
from chassis.retry_budget import RetryBudget
from chassis.tracing.spans import span
from chassis.vendor_errors import (
    VendorError,
    VendorGarbled,
    VendorLimited,
    VendorTimeout,
    VendorUnauthorized,
    VendorUnavailable,
    VendorUnusable,
)
from chassis.vendor_http import VendorAnswer, VendorHttp

Read = TypeVar("Read")
Judge = Callable[[VendorError], VendorError]
"""Returns what a vendor's error really is, where the status alone does not tell."""


class VendorClient:
    """A client of one vendor with one account; an async context manager.

    Tries again only after 408, 409, 429, 5xx, a lost connection or a cut answer. The defaults of
    breaker, limiter (unlimited) and budget belong to this client alone. `judge` sees each error
    before anything is made of it. `rng` draws the pauses.
    """

    def __init__(
        self,
        http: VendorHttp,
        *,
        patience: Patience | None = None,
        breaker: CircuitBreaker | None = None,
        limiter: RateLimiter | None = None,
        budget: RetryBudget | None = None,
        judge: Judge = lambda error: error,
        clock: Clock = clocks.monotonic,
        sleep: Sleep = clocks.sleep,
        rng: random.Random | None = None,
    ) -> None:
        self.vendor = http.vendor
        self.breaker = breaker or CircuitBreaker(http.vendor, clock=clock)
        self._http = http
        self._patience = patience or Patience()
        self._limiter = limiter or RateLimiter(clock=clock, sleep=sleep)
        self._budget = budget or RetryBudget()
        self._judge = judge
        self._clock = clock
        self._sleep = sleep
        self._rng = rng or random.Random()

    def __repr__(self) -> str:
        return f"VendorClient({self._http!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all connections."""
        await self._http.close()

    async def post_json(
        self, path: str, body: Any, *, tokens: float = 0.0, timeout_s: float | None = None
    ) -> VendorAnswer:
        """Sends `body` as JSON and returns the answer; `tokens` is what it takes of the limit.

        Raises VendorError, CircuitOpen, RateLimited or DeadlineExceeded. The time allowed is
        `timeout_s` (the patience's total if None), never more than the current call's deadline.
        """
        return await self._call("POST", path, orjson.dumps(body), tokens, timeout_s, _whole)

    async def post_read(
        self,
        path: str,
        body: Any,
        read: Callable[[VendorAnswer], Read],
        *,
        tokens: float = 0.0,
        timeout_s: float | None = None,
        yielding: bool = False,
    ) -> Read:
        """Like `post_json`, and returns what `read` makes of the answer.

        What `read` raises counts as the vendor's: VendorUnusable as an outage. With `yielding`,
        others go first where the limiter makes calls wait.
        """
        return await self._call(
            "POST", path, orjson.dumps(body), tokens, timeout_s, read, yielding=yielding
        )

    async def get_json(self, path: str, *, timeout_s: float | None = None) -> VendorAnswer:
        """Fetches a JSON answer; else like `post_json`."""
        return await self._call("GET", path, None, 0.0, timeout_s, _whole)

    async def _call(
        self,
        method: str,
        path: str,
        body: bytes | None,
        tokens: float,
        timeout_s: float | None,
        read: Callable[[VendorAnswer], Read],
        *,
        yielding: bool = False,
    ) -> Read:
        deadline = self._deadline(timeout_s)

        async def attempt() -> Read:
            await self._limiter.acquire(tokens, deadline, yielding=yielding)
            seconds = min(self._patience.attempt_timeout_s, deadline.remaining())
            attributes = {"http.request.method": method, "server.address": self._http.host}
            with (
                span(method, attributes, kind=SpanKind.CLIENT),
                self._guarded(seconds),
            ):
                return read(await self._http.exchange(method, path, body, seconds))

        return await self._retrying(deadline, attempt)

    @asynccontextmanager
    async def post_lines(
        self,
        path: str,
        body: Any,
        *,
        idle_s: float,
        tokens: float = 0.0,
        timeout_s: float | None = None,
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Sends `body` as JSON and gives the lines of the answer as they come.

        What fails before the answer begins is tried again as by `post_json`; afterwards nothing
        is. Raises the same errors, and VendorTimeout where the vendor is silent for `idle_s`
        seconds. A VendorError that the reader of the lines raises counts as the vendor's.
        """
        deadline = self._deadline(timeout_s)

        async def attempt() -> tuple[AsyncExitStack, AsyncIterator[bytes]]:
            await self._limiter.acquire(tokens, deadline)
            seconds = min(self._patience.attempt_timeout_s, idle_s, deadline.remaining())
            async with AsyncExitStack() as opening:
                opening.enter_context(self._guarded(seconds))
                lines = await opening.enter_async_context(
                    self._http.lines(
                        path,
                        orjson.dumps(body),
                        opening_s=seconds,
                        idle_s=idle_s,
                        deadline=deadline,
                    )
                )
                return opening.pop_all(), lines

        opened, lines = await self._retrying(deadline, attempt)
        async with opened:
            yield lines

    async def _retrying(self, deadline: Deadline, attempt: Callable[[], Awaitable[Read]]) -> Read:
        retrying = tenacity.AsyncRetrying(
            sleep=self._sleep,
            retry=tenacity.retry_if_exception(_is_retryable),
            wait=self._pause,
            stop=tenacity.stop_any(
                tenacity.stop_after_attempt(self._patience.attempts), _Hopeless(self, deadline)
            ),
            reraise=True,
        )
        return await retrying(attempt)

    @contextmanager
    def _guarded(self, seconds: float) -> Iterator[None]:
        """Surrounds one attempt: tells the breaker, the budget and the limiter how it went."""

        def is_outage(error: Exception) -> bool | None:
            hurried = isinstance(error, VendorTimeout) and not self._patience.is_fair(seconds)
            return None if hurried else _is_outage(error)

        with self.breaker.attempt(is_outage):
            try:
                yield
            except VendorError as error:
                judged = self._judge(error)
                self._learn_from(judged)
                if judged is error:
                    raise
                raise judged from error
            self._budget.record_success()

    def _learn_from(self, error: VendorError) -> None:
        if error.retryable:
            self._budget.record_failure()
        if isinstance(error, VendorUnauthorized):
            self.breaker.trip()
        if isinstance(error, VendorLimited) and error.retry_after_s is not None:
            self._limiter.pause_for(min(error.retry_after_s, self._patience.max_retry_after_s))

    def _deadline(self, timeout_s: float | None) -> Deadline:
        seconds = self._patience.total_timeout_s if timeout_s is None else timeout_s
        given = current_deadline()
        if given is not None:
            seconds = min(seconds, given.remaining())
        if seconds <= 0:
            raise DeadlineExceeded(f"no time is left to ask {self.vendor}")
        return Deadline.after(seconds, self._clock)

    def _pause(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.retry_after_s if isinstance(error, VendorError) else None
        return self._patience.pause(state.attempt_number, asked, self._rng)

    def _may_retry(self) -> bool:
        return self._budget.allows_retry and self.breaker.state is not BreakerState.OPEN


class _Hopeless(stop_base):
    """Ends a call whose next attempt is not affordable or would begin after the deadline."""

    def __init__(self, client: VendorClient, deadline: Deadline) -> None:
        self._client = client
        self._deadline = deadline

    def __call__(self, retry_state: tenacity.RetryCallState) -> bool:
        late = retry_state.upcoming_sleep >= self._deadline.remaining()
        return late or not self._client._may_retry()


def _is_retryable(error: BaseException) -> bool:
    return isinstance(error, VendorError) and error.retryable


def _is_outage(error: Exception) -> bool:
    if isinstance(error, VendorGarbled):
        return error.retryable
    return isinstance(error, (VendorTimeout, VendorUnavailable, VendorUnusable))


def _whole(answer: VendorAnswer) -> VendorAnswer:
    return answer
