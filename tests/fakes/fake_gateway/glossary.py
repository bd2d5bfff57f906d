"""The part of the fake gateway that keeps glossaries."""

from chassis.errors import InvalidArgument
from chassis.interception import ServicerContext
from justesse.gateway.v1 import glossary_pb2, glossary_pb2_grpc
from tests.fakes.fake_gateway.state import GatewayState, fail


class FakeGlossary(glossary_pb2_grpc.GlossaryServiceServicer):
    """Keeps entries by term as they come; page tokens are terms."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    async def ListGlossaryEntries(
        self, request: glossary_pb2.ListGlossaryEntriesRequest, context: ServicerContext
    ) -> glossary_pb2.ListGlossaryEntriesResponse:
        """Lists by term."""
        await self._state.enter("ListGlossaryEntries", context)
        await self._state.documents_of(request.workspace, context)
        entries = self._state.glossary
        following = [entries[term] for term in sorted(entries) if term > request.page_token]
        page = following[: request.page_size]
        return glossary_pb2.ListGlossaryEntriesResponse(
            entries=page,
            next_page_token=page[-1].term if len(following) > len(page) else "",
            entry_count=len(entries),
            glossary_version=self._state.glossary_version,
        )

    async def PutGlossaryEntries(
        self, request: glossary_pb2.PutGlossaryEntriesRequest, context: ServicerContext
    ) -> glossary_pb2.PutGlossaryEntriesResponse:
        """Refuses an entry without synonyms."""
        await self._state.enter("PutGlossaryEntries", context)
        await self._state.documents_of(request.workspace, context)
        if not all(entry.synonyms for entry in request.entries):
            await fail(context, InvalidArgument("an entry has no synonyms", field="entries"))
        before = dict(self._state.glossary)
        if request.replace_all:
            self._state.glossary.clear()
        self._state.glossary.update({entry.term: entry for entry in request.entries})
        self._state.glossary_version += 1
        return glossary_pb2.PutGlossaryEntriesResponse(
            created_count=len(self._state.glossary.keys() - before.keys()),
            updated_count=len(before.keys() & {entry.term for entry in request.entries}),
            deleted_count=len(before.keys() - self._state.glossary.keys()),
            entry_count=len(self._state.glossary),
            glossary_version=self._state.glossary_version,
        )

    async def DeleteGlossaryEntries(
        self, request: glossary_pb2.DeleteGlossaryEntriesRequest, context: ServicerContext
    ) -> glossary_pb2.DeleteGlossaryEntriesResponse:
        """Names what was not there."""
        await self._state.enter("DeleteGlossaryEntries", context)
        await self._state.documents_of(request.workspace, context)
        missing = [term for term in request.terms if term not in self._state.glossary]
        for term in request.terms:
            self._state.glossary.pop(term, None)
        self._state.glossary_version += 1
        return glossary_pb2.DeleteGlossaryEntriesResponse(
            deleted_count=len(request.terms) - len(missing),
            missing_terms=missing,
            glossary_version=self._state.glossary_version,
        )
