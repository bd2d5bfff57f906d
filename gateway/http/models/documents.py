"""Documents in JSON, and the fields that go with an uploaded file."""

from __future__ import annotations

from datetime import datetime

from pydantic import AwareDatetime, BaseModel, Field, Json

from gateway.documents import DocumentDeletion, DocumentPage, SourceDeletion, StoredDocument
from gateway.http.models.values import FactBody, RequestBody, facts_from, to_facts
from gateway.incoming_files import IncomingFile, IngestionReport


class UploadFields(RequestBody):
    """Form fields beside the file; what is left empty is read from the file."""

    workspace: str = Field(description="slug of the workspace")
    external_id: str = Field(default="", description="id of the document; the file name if empty")
    title: str = ""
    keywords: list[str] = Field(default=[], description="may be given several times")
    source_uri: str = ""
    category: str = ""
    language: str = Field(default="", description='"fr" or "en"')
    metadata: Json[dict[str, FactBody]] = Field(
        default={}, description="JSON object of typed facts"
    )
    version: str = ""
    superseded: bool = False
    keep_previous: bool = Field(
        default=False, description="keep what is replaced as a superseded document of its own"
    )
    valid_from: AwareDatetime | None = Field(default=None, description="RFC 3339 with time zone")
    valid_until: AwareDatetime | None = Field(default=None, description="RFC 3339 with time zone")

    def incoming_file(self, file_name: str, byte_count: int | None) -> IncomingFile:
        """Returns the description of a file of this name and size."""
        return IncomingFile(
            workspace=self.workspace,
            file_name=file_name,
            external_id=self.external_id,
            title=self.title,
            keywords=tuple(self.keywords),
            source_uri=self.source_uri,
            category=self.category,
            language=self.language,
            metadata=facts_from(self.metadata),
            version=self.version,
            superseded=self.superseded,
            keep_previous=self.keep_previous,
            valid_from=self.valid_from,
            valid_until=self.valid_until,
            byte_count=byte_count,
        )


class IngestionReportBody(BaseModel):
    """What became of a file; `outcome` is CREATED, REPLACED or UNCHANGED."""

    outcome: str
    external_id: str
    title: str
    passage_count: int
    awaiting_passage_count: int
    space_id: str
    warnings: list[str]
    kept_vector_count: int


class DocumentBody(BaseModel):
    """A document as stored."""

    external_id: str
    title: str
    keywords: list[str]
    source_uri: str
    category: str
    language: str
    version: str
    superseded: bool
    metadata: dict[str, FactBody]
    passage_count: int
    awaiting_passage_count: int
    update_time: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    chunking_profile: str


class DocumentPassageBody(BaseModel):
    """One passage of a document.

    In the spaces of `sliced_space_ids` its vector is a mean of slices, as the text is longer than
    the model's input. `cuts_token`: it begins or ends inside a word too long for one passage.
    """

    passage_id: str
    chunk_index: int
    text: str
    heading_path: list[str]
    location: str
    token_estimate: int
    space_ids: list[str]
    sliced_space_ids: list[str]
    cuts_token: bool


class DocumentWithPassagesBody(BaseModel):
    """A document and its passages in order."""

    document: DocumentBody
    passages: list[DocumentPassageBody]


class DocumentPageBody(BaseModel):
    """A page of documents; an empty `next_page_token` marks the last."""

    documents: list[DocumentBody]
    next_page_token: str
    total_count: int


class DocumentDeletionBody(BaseModel):
    """Whether the document existed, and how many passages and kept files went with it.

    `original_failure` says why kept files may still be there; empty if none is.
    `purge_within_s`: the seconds within which the bytes in store and indexes are gone; 0 where
    that is not promised.
    """

    deleted: bool
    passage_count: int
    original_count: int
    original_failure: str
    purge_within_s: int


def to_ingestion_report_body(report: IngestionReport) -> IngestionReportBody:
    """Writes what became of a file."""
    return IngestionReportBody(
        outcome=report.outcome.name,
        external_id=report.external_id,
        title=report.title,
        passage_count=report.passage_count,
        awaiting_passage_count=report.awaiting_passage_count,
        space_id=report.space_id,
        warnings=list(report.warnings),
        kept_vector_count=report.kept_vector_count,
    )


def to_document_with_passages_body(stored: StoredDocument) -> DocumentWithPassagesBody:
    """Writes a document with its passages."""
    return DocumentWithPassagesBody(
        document=_to_document_body(stored),
        passages=[
            DocumentPassageBody(
                passage_id=each.passage_id,
                chunk_index=each.passage.chunk_index,
                text=each.passage.text,
                heading_path=list(each.passage.heading_path),
                location=each.passage.location,
                token_estimate=each.passage.token_estimate,
                space_ids=list(each.space_ids),
                sliced_space_ids=list(each.sliced_space_ids),
                cuts_token=each.passage.cuts_token,
            )
            for each in stored.passages
        ],
    )


def to_document_page_body(page: DocumentPage) -> DocumentPageBody:
    """Writes one page of documents."""
    return DocumentPageBody(
        documents=[_to_document_body(stored) for stored in page.documents],
        next_page_token=page.next_page_token,
        total_count=page.total_count,
    )


class DeletedSourceDocumentBody(BaseModel):
    """A document that was deleted with its source."""

    external_id: str
    passage_count: int
    original_failure: str


class SourceDeletionBody(BaseModel):
    """What was deleted with a source; `documents` is empty where nothing came from it."""

    documents: list[DeletedSourceDocumentBody]
    passage_count: int
    original_count: int
    purge_within_s: int


def to_source_deletion_body(deletion: SourceDeletion) -> SourceDeletionBody:
    """Writes what was deleted with a source."""
    return SourceDeletionBody(
        documents=[
            DeletedSourceDocumentBody(
                external_id=external_id,
                passage_count=each.passage_count,
                original_failure=each.original_failure,
            )
            for external_id, each in deletion.deletions.items()
        ],
        passage_count=deletion.passage_count,
        original_count=deletion.original_count,
        purge_within_s=deletion.purge_within_s,
    )


def to_document_deletion_body(deletion: DocumentDeletion) -> DocumentDeletionBody:
    """Writes what was deleted."""
    return DocumentDeletionBody(
        deleted=deletion.deleted,
        passage_count=deletion.passage_count,
        original_count=deletion.original_count,
        original_failure=deletion.original_failure,
        purge_within_s=deletion.purge_within_s,
    )


def _to_document_body(stored: StoredDocument) -> DocumentBody:
    document = stored.document
    return DocumentBody(
        external_id=document.external_id,
        title=document.title,
        keywords=list(document.keywords),
        source_uri=document.source_uri,
        category=document.category,
        language=document.language,
        version=document.version,
        superseded=document.superseded,
        metadata=to_facts(document.metadata),
        passage_count=stored.passage_count,
        awaiting_passage_count=stored.awaiting_passage_count,
        update_time=stored.update_time,
        valid_from=document.valid_from,
        valid_until=document.valid_until,
        chunking_profile=document.chunking_profile,
    )
