"""Keeps the processes of a mesh running: starts them, waits, starts again what dies, stops all."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum

from justesse.cli.local_mesh.service_process import ServiceProcess, ending_in_words

LAST_LINES = 15


class MeshStep(StrEnum):
    """What happened to a process."""

    STARTED = "started"
    READY = "ready"
    DIED = "died"
    """It ended unasked and will be started again."""
    RECOVERED = "recovered"
    STOPPED = "stopped"
    KILLED = "killed"
    """It did not stop in time."""


@dataclass(frozen=True, slots=True)
class MeshEvent:
    """Something that happened to a process, for people to read."""

    step: MeshStep
    service: str
    detail: str = ""


class StartFailedError(Exception):
    """A process did not get ready; `last_lines` is what it wrote last."""

    def __init__(self, service: str, cause: str, last_lines: Sequence[str]) -> None:
        super().__init__(f"{service} did not start: {cause}")
        self.service = service
        self.last_lines = tuple(last_lines)


@dataclass(frozen=True, slots=True)
class Member:
    """A process and how to tell that it is ready."""

    process: ServiceProcess
    wait_until_ready: Callable[[], Awaitable[None]]

    @property
    def name(self) -> str:
        """Name of the service."""
        return self.process.name


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the supervisor waits for what, in seconds."""

    start_s: float = 120.0
    stop_s: float = 30.0
    """Longer than a service's own grace for calls under way."""
    first_pause_s: float = 0.5
    longest_pause_s: float = 30.0
    calm_s: float = 60.0
    """A process that ran this long starts again after the first pause."""


class Supervisor:
    """Starts, watches and stops the members of a mesh."""

    def __init__(
        self,
        members: Sequence[Member],
        stop_order: Sequence[Sequence[str]],
        report: Callable[[MeshEvent], None],
        patience: Patience | None = None,
    ) -> None:
        """Members start together; groups of `stop_order` stop one after the other."""
        self._members = {member.name: member for member in members}
        self._stop_order = stop_order
        self._report = report
        self._patience = patience or Patience()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Runs the mesh around a block, in which every member is ready or being restarted.

        Raises StartFailedError when one does not get ready; the others are stopped by then.
        """
        watchers: list[asyncio.Task[None]] = []
        try:
            await self._start_all()
            watchers = [asyncio.create_task(self._keep(each)) for each in self._members.values()]
            yield
        finally:
            for watcher in watchers:
                watcher.cancel()
            await asyncio.gather(*watchers, return_exceptions=True)
            await self._stop_all()

    async def kill(self) -> None:
        """Ends every process at once."""
        await asyncio.gather(*(member.process.kill() for member in self._members.values()))

    async def _start_all(self) -> None:
        try:
            async with asyncio.TaskGroup() as starts:
                for member in self._members.values():
                    starts.create_task(self._start(member))
        except* StartFailedError as failures:
            # One failure cancels the other starts; the first is the one to tell.
            first = failures.exceptions[0]
        else:
            return
        raise first

    async def _start(self, member: Member) -> None:
        began = time.monotonic()
        await member.process.start()
        self._report(MeshEvent(MeshStep.STARTED, member.name))
        try:
            async with asyncio.timeout(self._patience.start_s):
                code = await self._ready_or_ended(member)
        except TimeoutError:
            raise self._start_failed(
                member, f"not ready after {self._patience.start_s:g} s"
            ) from None
        if code is not None:
            raise self._start_failed(member, ending_in_words(code))
        self._report(
            MeshEvent(MeshStep.READY, member.name, f"after {time.monotonic() - began:.1f} s")
        )

    async def _ready_or_ended(self, member: Member) -> int | None:
        """Waits until the member is ready (None) or has ended (its exit code)."""
        ready = asyncio.ensure_future(member.wait_until_ready())
        ended = asyncio.ensure_future(member.process.wait())
        try:
            await asyncio.wait((ready, ended), return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                return ended.result()
            ready.result()
            return None
        finally:
            ready.cancel()
            ended.cancel()
            await asyncio.gather(ready, ended, return_exceptions=True)

    async def _keep(self, member: Member) -> None:
        """Starts a member again whenever it ends, with growing pauses while it does so at once."""
        pause = self._patience.first_pause_s
        while True:
            began = time.monotonic()
            code = await member.process.wait()
            if time.monotonic() - began >= self._patience.calm_s:
                pause = self._patience.first_pause_s
            detail = f"{ending_in_words(code)}; starting again in {pause:g} s"
            self._report(MeshEvent(MeshStep.DIED, member.name, detail))
            await asyncio.sleep(pause)
            pause = min(2 * pause, self._patience.longest_pause_s)
            await member.process.start()
            if await self._ready_or_ended(member) is None:
                self._report(MeshEvent(MeshStep.RECOVERED, member.name))

    async def _stop_all(self) -> None:
        for names in self._stop_order:
            await asyncio.gather(*(self._stop(self._members[name]) for name in names))

    async def _stop(self, member: Member) -> None:
        if not member.process.running:
            return
        polite = await member.process.stop(self._patience.stop_s)
        self._report(MeshEvent(MeshStep.STOPPED if polite else MeshStep.KILLED, member.name))

    def _start_failed(self, member: Member, cause: str) -> StartFailedError:
        return StartFailedError(member.name, cause, member.process.last_lines(LAST_LINES))
