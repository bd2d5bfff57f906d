"""Removes what nobody needs any more: old jobs, and received files without a use."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import structlog

from chassis.clock import Clock, wall
from chassis.errors import ServiceError
from gateway.document_jobs import INGESTION
from gateway.ingestion.kept_files import KeptFiles
from gateway.jobs.job import JobState
from gateway.jobs.job_store import JobStore, time_of_job_id

_log = structlog.get_logger("gateway.ingestion.job_upkeep")

INTERVAL_S = 600.0
_RECEIVING_S = 24 * 3600.0
"""A file whose job is not there may belong to an upload under way, for this long."""

_JOBS_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class JobUpkeep:
    """Removes jobs `retention_s` after their end, with their received files."""

    jobs: JobStore
    kept: KeptFiles
    retention_s: float
    clock: Clock = wall

    async def keep_tidy(self, interval_s: float = INTERVAL_S) -> None:
        """Tidies now and then, for ever; a lost database is no error."""
        while True:
            try:
                await self.tidy()
            except ServiceError as error:
                _log.warning("not tidied", reason=error.reason, error=error.message)
            await asyncio.sleep(interval_s)

    async def tidy(self) -> tuple[int, int]:
        """Returns how many jobs and how many files were removed."""
        jobs = files = 0
        moment_ms = round((self.clock() - self.retention_s) * 1e3)
        while old := await self.jobs.finished_before(INGESTION, moment_ms):
            for job_id in old:
                await self.jobs.remove(job_id)
            jobs += len(old)
        found: dict[str, list[int]] = {}
        for job_id, index in await asyncio.to_thread(self.kept.all):
            found.setdefault(job_id, []).append(index)
        ids = list(found)
        for start in range(0, len(ids), _JOBS_AT_ONCE):
            some = ids[start : start + _JOBS_AT_ONCE]
            states = await self.jobs.states(some)
            for job_id in some:
                useless = [i for i in found[job_id] if self._useless(states.get(job_id), job_id, i)]
                files += len(useless)
                await asyncio.to_thread(self._remove, job_id, useless)
        if jobs or files:
            _log.info("tidied", jobs=jobs, files=files)
        return jobs, files

    def _useless(self, states: list[JobState] | None, job_id: str, index: int) -> bool:
        if states is None:
            return time_of_job_id(job_id) < self.clock() - _RECEIVING_S
        return states[index] is JobState.INDEXED

    def _remove(self, job_id: str, indexes: list[int]) -> None:
        for index in indexes:
            self.kept.remove(job_id, index)
