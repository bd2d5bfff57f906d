"""A job's progress as server-sent events.

Each event has the job's revision for an id, so that a reader that reconnects with `Last-Event-ID`
gets what it missed. The stream ends after the final state; a reader that knows that state already
is answered 204, which keeps browsers from connecting again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import orjson
import structlog
from starlette.responses import Response, StreamingResponse

from chassis.errors import InvalidArgument, ServiceError
from gateway.document_jobs import DocumentJob
from gateway.http.models.jobs import to_job_body
from gateway.ingestion_ports import DocumentJobs

HEARTBEAT_S = 15.0
RECONNECT_MS = 2_000

_log = structlog.get_logger("gateway.http")


def last_revision(header: str | None) -> int:
    """Reads the header Last-Event-ID; InvalidArgument where it is no id of ours."""
    if not header:
        return 0
    if not (header.isascii() and header.isdigit() and len(header) < 19):
        raise InvalidArgument(
            f"Last-Event-ID {header[:40]!r} was not given by this service; leave it out",
            field="Last-Event-ID",
        )
    return int(header)


async def job_events(
    jobs: DocumentJobs,
    workspace: str,
    job_id: str,
    after_revision: int,
    *,
    heartbeat_s: float = HEARTBEAT_S,
) -> Response:
    """Answers with the events of a job; raises NotFound where there is none."""
    watched = aiter(jobs.watch_job(workspace, job_id, after_revision))
    first = await anext(watched)
    if first.finished and first.revision <= after_revision:
        return Response(status_code=204)
    return StreamingResponse(
        _events(first, watched, heartbeat_s),
        media_type="text/event-stream",
        # Proxies must not gather events before they pass them on.
        headers={"X-Accel-Buffering": "no"},
    )


async def _events(
    first: DocumentJob, watched: AsyncIterator[DocumentJob], heartbeat_s: float
) -> AsyncIterator[bytes]:
    yield b"retry: %d\n\n" % RECONNECT_MS
    yield _event(first)
    following = asyncio.ensure_future(anext(watched, None))
    try:
        while True:
            done, _ = await asyncio.wait({following}, timeout=heartbeat_s)
            if not done:
                yield b": the job goes on\n\n"
                continue
            job = following.result()
            if job is None:
                return
            yield _event(job)
            following = asyncio.ensure_future(anext(watched, None))
    except ServiceError as error:
        # The answer has begun; the reader connects again and hears the error then.
        _log.warning("events broken off", reason=error.reason, error=error.message)
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


def _event(job: DocumentJob) -> bytes:
    data = orjson.dumps(to_job_body(job).model_dump(mode="json", exclude_none=True))
    return b"id: %d\nevent: job\ndata: %s\n\n" % (job.revision, data)
