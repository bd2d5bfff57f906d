"""Removes the kept files of documents that were deleted while nobody could remove them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import structlog

from chassis.errors import NotFound, ServiceError
from gateway.ingestion.originals import DocumentFolder, Originals
from gateway.ingestion.passage_store import PassageStore

_log = structlog.get_logger("gateway.ingestion.originals_upkeep")

INTERVAL_S = 3_600.0
"""Far longer than a document takes from the keeping of its file to its own storing."""

_PAGE_SIZE = 500
_TIMEOUT_S = 30.0


@dataclass(slots=True)
class OriginalsUpkeep:
    """Removes files whose document was missing at two looks, one interval apart.

    A store that knows no workspace at all may be a wrong one: nothing is removed then.
    """

    store: PassageStore
    originals: Originals
    _missing: frozenset[DocumentFolder] = field(default=frozenset(), init=False)

    async def keep_tidy(self, interval_s: float = INTERVAL_S) -> None:
        """Looks at once and then now and then, for ever; a lost service is no error."""
        while True:
            try:
                await self.tidy()
            except ServiceError as error:
                _log.warning("originals not tidied", reason=error.reason, error=error.message)
            await asyncio.sleep(interval_s)

    async def tidy(self) -> int:
        """Looks once; returns how many files were removed.

        Raises what the store and the place of originals raise.
        """
        missing = await self._orphans()
        doomed, self._missing = missing & self._missing, missing
        files = 0
        for folder in doomed:
            files += await asyncio.to_thread(self.originals.remove, folder)
        if files:
            _log.info("originals of deleted documents removed", files=files)
        return files

    async def _orphans(self) -> frozenset[DocumentFolder]:
        """Returns the folders without a document. Files are listed first: documents follow them."""
        folders = await asyncio.to_thread(self.originals.folders)
        workspaces = {one.slug for one in await self.store.list_workspaces(timeout=_TIMEOUT_S)}
        if not workspaces:
            if folders:
                _log.warning("originals without any workspace stay", documents=len(folders))
            return frozenset()
        for slug in {folder.workspace for folder in folders} & workspaces:
            folders -= await self._stored(slug)
        return folders

    async def _stored(self, slug: str) -> frozenset[DocumentFolder]:
        found: set[DocumentFolder] = set()
        token = ""
        while True:
            try:
                page = await self.store.list_documents(slug, _PAGE_SIZE, token, timeout=_TIMEOUT_S)
            except NotFound:
                return frozenset()
            found |= {DocumentFolder.of(slug, one.document.external_id) for one in page.documents}
            token = page.next_page_token
            if not token:
                return frozenset(found)
