"""Documents as stored in a workspace."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from justesse.client.metadata import MetadataValue, metadata_from, moment_from
from justesse.gateway.v1 import documents_pb2


@dataclass(frozen=True, slots=True)
class Document:
    """A document."""

    external_id: str
    """Id given by its owner, unique in the workspace."""
    title: str
    keywords: tuple[str, ...]
    source_uri: str
    category: str
    language: str
    version: str
    superseded: bool
    metadata: Mapping[str, MetadataValue]
    passage_count: int
    update_time: datetime | None
    valid_from: datetime | None
    """None: the content always held."""
    valid_until: datetime | None
    """First moment the content no longer holds; None: it holds for ever."""
    chunking_profile: str
    awaiting_passage_count: int = 0
    """Passages that wait to be embedded; they are found by their words meanwhile."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage of a document."""

    passage_id: str
    chunk_index: int
    """Position in the document, from 0."""
    text: str
    heading_path: tuple[str, ...]
    location: str
    token_estimate: int
    space_ids: tuple[str, ...]
    """Spaces that hold a vector of it; none while it waits to be embedded."""
    sliced_space_ids: tuple[str, ...] = ()
    """Those of them whose vector is a mean of slices: the text exceeds the model's input."""
    cuts_token: bool = False
    """Whether it begins or ends inside a word that is longer than a passage may be."""


@dataclass(frozen=True, slots=True)
class DocumentWithPassages:
    """A document with its passages in order."""

    document: Document
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """One page of the documents of a workspace, ordered by external id."""

    documents: tuple[Document, ...]
    next_page_token: str
    """Empty on the last page."""
    total_count: int
    """Documents in the workspace."""


@dataclass(frozen=True, slots=True)
class DeletedDocument:
    """What a deletion did."""

    deleted: bool
    """False: there was no such document."""
    passage_count: int
    original_count: int = 0
    """Kept files that were deleted."""
    original_failure: str = ""
    """Why kept files may still be there; empty if none is. Deleting once more tries again."""
    purge_within_s: int = 0
    """Seconds within which its bytes leave all files; 0 where that is not promised."""


@dataclass(frozen=True, slots=True)
class DeletedSource:
    """What a deletion of a source did."""

    external_ids: tuple[str, ...]
    """The documents that were deleted."""
    passage_count: int
    original_count: int
    """Kept files that were deleted."""
    original_failures: Mapping[str, str]
    """Why kept files may still be there, by external id."""
    purge_within_s: int
    """Seconds within which their bytes leave all files; 0 where that is not promised."""


def deleted_source_from(message: documents_pb2.DeleteSourceResponse) -> DeletedSource:
    """Decodes what was deleted with a source."""
    return DeletedSource(
        tuple(document.external_id for document in message.documents),
        message.passage_count,
        message.original_count,
        {
            document.external_id: document.original_failure
            for document in message.documents
            if document.original_failure
        },
        message.purge_within_s,
    )


def document_from(message: documents_pb2.Document) -> Document:
    """Decodes a document."""
    return Document(
        external_id=message.external_id,
        title=message.title,
        keywords=tuple(message.keywords),
        source_uri=message.source_uri,
        category=message.category,
        language=message.language,
        version=message.version,
        superseded=message.superseded,
        metadata=metadata_from(message.metadata),
        passage_count=message.passage_count,
        update_time=moment_from(message.update_time) if message.HasField("update_time") else None,
        valid_from=moment_from(message.valid_from) if message.HasField("valid_from") else None,
        valid_until=moment_from(message.valid_until) if message.HasField("valid_until") else None,
        chunking_profile=message.chunking_profile,
        awaiting_passage_count=message.awaiting_passage_count,
    )


def document_with_passages_from(message: documents_pb2.GetDocumentResponse) -> DocumentWithPassages:
    """Decodes a document and its passages."""
    return DocumentWithPassages(
        document=document_from(message.document),
        passages=tuple(
            Passage(
                passage_id=passage.passage_id,
                chunk_index=passage.chunk_index,
                text=passage.text,
                heading_path=tuple(passage.heading_path),
                location=passage.location,
                token_estimate=passage.token_estimate,
                space_ids=tuple(passage.space_ids),
                sliced_space_ids=tuple(passage.sliced_space_ids),
                cuts_token=passage.cuts_token,
            )
            for passage in message.passages
        ),
    )


def document_page_from(message: documents_pb2.ListDocumentsResponse) -> DocumentPage:
    """Decodes one page of documents."""
    return DocumentPage(
        documents=tuple(document_from(document) for document in message.documents),
        next_page_token=message.next_page_token,
        total_count=message.total_count,
    )
