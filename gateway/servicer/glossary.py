"""Glossaries over gRPC."""

from __future__ import annotations

from chassis.interception import ServicerContext
from gateway.glossary.glossaries import Glossaries
from gateway.wire.glossary import entries_from, to_change, to_deletion, to_page
from justesse.gateway.v1 import glossary_pb2, glossary_pb2_grpc


class GlossaryServicer(glossary_pb2_grpc.GlossaryServiceServicer):
    """Serves justesse.gateway.v1.GlossaryService."""

    def __init__(self, glossaries: Glossaries) -> None:
        self._glossaries = glossaries

    async def ListGlossaryEntries(
        self, request: glossary_pb2.ListGlossaryEntriesRequest, context: ServicerContext
    ) -> glossary_pb2.ListGlossaryEntriesResponse:
        """Lists entries by term."""
        page = await self._glossaries.page(request.workspace, request.page_size, request.page_token)
        return to_page(page)

    async def PutGlossaryEntries(
        self, request: glossary_pb2.PutGlossaryEntriesRequest, context: ServicerContext
    ) -> glossary_pb2.PutGlossaryEntriesResponse:
        """Adds entries, or replaces those of equal terms."""
        change = await self._glossaries.put(
            request.workspace, entries_from(request.entries), replace_all=request.replace_all
        )
        return to_change(change)

    async def DeleteGlossaryEntries(
        self, request: glossary_pb2.DeleteGlossaryEntriesRequest, context: ServicerContext
    ) -> glossary_pb2.DeleteGlossaryEntriesResponse:
        """Deletes entries by their terms."""
        deletion = await self._glossaries.delete(request.workspace, request.terms)
        return to_deletion(deletion)
