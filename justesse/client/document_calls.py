"""The part of the synchronous client that reads, deletes and cuts documents anew."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from justesse.client import requests
from justesse.client.documents import (
    DeletedDocument,
    DeletedSource,
    Document,
    DocumentPage,
    DocumentWithPassages,
)
from justesse.client.ingestion import IngestionResult
from justesse.client.requests import CallFor, ResultT


class DocumentCalls(ABC):
    """What a client can do with the documents of workspaces."""

    def get_document(
        self,
        workspace: str,
        external_id: str,
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> DocumentWithPassages:
        """Reads one document with its passages."""
        return self._answer(requests.get_document(workspace, external_id), timeout, request_id)

    def list_documents(
        self,
        workspace: str,
        *,
        page_size: int = 50,
        page_token: str = "",
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> DocumentPage:
        """Lists one page of documents by external id; at most 500 a page."""
        call = requests.list_documents(workspace, page_size, page_token)
        return self._answer(call, timeout, request_id)

    def iterate_documents(
        self,
        workspace: str,
        *,
        page_size: int = 50,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> Iterator[Document]:
        """Iterates over all documents by external id; `timeout` counts for each page."""
        page_token = ""
        while True:
            page = self.list_documents(
                workspace,
                page_size=page_size,
                page_token=page_token,
                timeout=timeout,
                request_id=request_id,
            )
            yield from page.documents
            if not page.next_page_token:
                return
            page_token = page.next_page_token

    def delete_document(
        self,
        workspace: str,
        external_id: str,
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> DeletedDocument:
        """Deletes one document; deleting what does not exist is no error and says so."""
        return self._answer(requests.delete_document(workspace, external_id), timeout, request_id)

    def delete_source(
        self,
        workspace: str,
        source_uri: str,
        *,
        timeout: float | None = None,
        request_id: str | None = None,
    ) -> DeletedSource:
        """Deletes the documents whose `source_uri` is this one; none is no error.

        Repeating a call that broke off goes on with the rest.
        """
        return self._answer(requests.delete_source(workspace, source_uri), timeout, request_id)

    def rechunk_document(
        self,
        workspace: str,
        external_id: str,
        *,
        timeout: float | None = None,
        request_id: str | None = None,
    ) -> IngestionResult:
        """Cuts a document anew from its kept file, as its workspace is set now."""
        call = requests.rechunk_document(workspace, external_id)
        return self._answer(call, timeout, request_id)

    def delete_originals(
        self,
        workspace: str,
        external_id: str = "",
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> int:
        """Deletes the kept files of a document, or of a workspace, that is gone; returns how many.

        Deletions do so by themselves; this is for those that say it failed.
        """
        call = requests.delete_originals(workspace, external_id)
        return self._answer(call, timeout, request_id)

    @abstractmethod
    def _answer(
        self, call: CallFor[ResultT], timeout: float | None, request_id: str | None
    ) -> ResultT:
        """Sends a call and decodes its answer."""
