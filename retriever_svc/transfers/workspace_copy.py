"""A workspace as it is read to be copied: one state, document by document."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from retriever_svc.documents import DocumentUpsert
from retriever_svc.workspaces import WorkspaceSettings


@dataclass(frozen=True, slots=True)
class CopiedSpace:
    """Describes a vector space of a copy; `canary` is empty where none is kept."""

    space_id: str
    dimension: int
    canary: bytes = b""


@dataclass(frozen=True, slots=True)
class WorkspaceHead:
    """Says what a copy holds beside its documents.

    The spaces are ordered by id; `preferred_space_id` is one of them, or empty.
    """

    settings: WorkspaceSettings
    spaces: tuple[CopiedSpace, ...]
    preferred_space_id: str


@dataclass(frozen=True, slots=True)
class WorkspaceCopy:
    """One state of a workspace; a document is read when it is asked for.

    Documents come in the order in which they came first, so that ties of a search stay in order.
    Their passages carry their blocks; their vectors, ordered by space, the bits that are stored.
    """

    head: WorkspaceHead
    documents: AsyncIterator[DocumentUpsert]


@dataclass(frozen=True, slots=True)
class ReadCopy:
    """A `WorkspaceCopy` as a thread reads it."""

    head: WorkspaceHead
    documents: Iterator[DocumentUpsert]


@asynccontextmanager
async def copied(
    opened: Callable[[], AbstractContextManager[ReadCopy]],
) -> AsyncIterator[WorkspaceCopy]:
    """Reads a copy on a thread of its own, so that nobody who searches or writes waits for it."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="copy")
    try:
        reading = opened()
        copy = await asyncio.wrap_future(thread.submit(reading.__enter__))
        try:
            yield WorkspaceCopy(copy.head, _documents(thread, copy.documents))
        finally:
            # It comes to its end though its caller may be gone.
            closed = asyncio.wrap_future(thread.submit(reading.__exit__, None, None, None))
            await asyncio.shield(closed)
    finally:
        thread.shutdown(wait=False)


async def _documents(
    thread: ThreadPoolExecutor, documents: Iterator[DocumentUpsert]
) -> AsyncIterator[DocumentUpsert]:
    read = partial(next, documents, None)
    while (document := await asyncio.wrap_future(thread.submit(read))) is not None:
        yield document
