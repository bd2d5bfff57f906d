"""The part of the synchronous client that keeps glossaries."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from justesse.client import glossary_requests
from justesse.client.glossary import (
    GlossaryChange,
    GlossaryDeletion,
    GlossaryEntry,
    GlossaryPage,
)
from justesse.client.requests import CallFor, ResultT


class GlossaryCalls(ABC):
    """What a client can do with the glossaries of workspaces."""

    def list_glossary_entries(
        self,
        workspace: str,
        *,
        page_size: int = 50,
        page_token: str = "",
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> GlossaryPage:
        """Lists entries by term, at most 500 at once."""
        call = glossary_requests.list_glossary_entries(workspace, page_size, page_token)
        return self._answer(call, timeout, request_id)

    def iterate_glossary_entries(
        self,
        workspace: str,
        *,
        page_size: int = 500,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> Iterator[GlossaryEntry]:
        """Iterates over all entries by term; `timeout` is for each page."""
        page_token = ""
        while True:
            page = self.list_glossary_entries(
                workspace,
                page_size=page_size,
                page_token=page_token,
                timeout=timeout,
                request_id=request_id,
            )
            yield from page.entries
            if not page.next_page_token:
                return
            page_token = page.next_page_token

    def put_glossary_entries(
        self,
        workspace: str,
        entries: Iterable[GlossaryEntry],
        *,
        replace_all: bool = False,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> GlossaryChange:
        """Adds entries, and replaces those of equal terms; all of them or none.

        With `replace_all` every entry that is not among these is deleted.
        """
        call = glossary_requests.put_glossary_entries(workspace, entries, replace_all)
        return self._answer(call, timeout, request_id)

    def delete_glossary_entries(
        self,
        workspace: str,
        terms: Iterable[str],
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> GlossaryDeletion:
        """Deletes the entries of terms; one that is not there is no error."""
        call = glossary_requests.delete_glossary_entries(workspace, terms)
        return self._answer(call, timeout, request_id)

    @abstractmethod
    def _answer(
        self, call: CallFor[ResultT], timeout: float | None, request_id: str | None
    ) -> ResultT: ...
