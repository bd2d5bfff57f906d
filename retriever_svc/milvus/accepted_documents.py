"""What a document must be like so that PostgreSQL and Milvus can hold it."""

from collections.abc import Iterator

from chassis.errors import InvalidArgument
from retriever_svc.documents import Document, DocumentUpsert
from retriever_svc.milvus.collections.condition_fields import MOST_METADATA_FIELDS


def check_document(upsert: DocumentUpsert) -> None:
    """Raises InvalidArgument naming what cannot be stored."""
    count = len(upsert.document.metadata)
    if count > MOST_METADATA_FIELDS:
        raise InvalidArgument(
            f"the document has {count} metadata fields; at most {MOST_METADATA_FIELDS} are taken",
            field="document.metadata",
        )
    for place, text in _texts(upsert):
        if "\x00" in text:
            raise InvalidArgument(
                f"{place} holds the character U+0000, which PostgreSQL cannot store; leave it out",
                field=place,
            )


def _texts(upsert: DocumentUpsert) -> Iterator[tuple[str, str]]:
    yield from _document_texts(upsert.document)
    for index, passage in enumerate(upsert.passages):
        yield f"passages[{index}].text", passage.text
        yield f"passages[{index}].location", passage.location
        yield f"passages[{index}].embedded_text_hash", passage.embedded_text_hash
        if passage.parent is not None:
            yield f"passages[{index}].parent.gap", passage.parent.gap


def _document_texts(document: Document) -> Iterator[tuple[str, str]]:
    for name in (
        "external_id",
        "title",
        "source_uri",
        "category",
        "language",
        "version",
        "content_hash",
        "chunking_profile",
    ):
        yield f"document.{name}", str(getattr(document, name))
    for name, value in document.metadata.items():
        yield "document.metadata", name
        if isinstance(value, str):
            yield f"document.metadata[{name!r}]", value
