"""Documents and passages."""

import unicodedata

from chassis.errors import InvalidArgument
from justesse.retriever.v1 import documents_pb2
from retriever_svc.documents import Document, ParentRange, Passage
from retriever_svc.wire.composed_texts import composed
from retriever_svc.wire.field_checks import checked_length, checked_text
from retriever_svc.wire.metadata import metadata_from, write_metadata_value
from retriever_svc.wire.moments import moment_from, write_timestamp

_MAX_ID_LENGTH = 512
_MAX_TITLE_LENGTH = 1_000
_MAX_PASSAGE_BYTES = 64 * 1024
_LANGUAGES = ("", "fr", "en")


def external_id_from(value: str, field: str) -> str:
    """Returns an id given by a document's owner. Raises InvalidArgument."""
    if not value:
        raise InvalidArgument(
            f"{field} is empty; give 1 to {_MAX_ID_LENGTH} characters", field=field
        )
    if any(unicodedata.category(character) == "Cc" for character in value):
        raise InvalidArgument(f"{field} {value!r} holds control characters", field=field)
    return checked_length(value, field, max_length=_MAX_ID_LENGTH)


def document_from(message: documents_pb2.Document, field: str) -> Document:
    """Returns the document. Raises InvalidArgument."""
    if message.language not in _LANGUAGES:
        raise InvalidArgument(
            f"{field}.language is {message.language!r}; expected 'fr', 'en' or nothing",
            field=f"{field}.language",
        )
    return Document(
        external_id=external_id_from(message.external_id, f"{field}.external_id"),
        title=checked_length(message.title, f"{field}.title", max_length=_MAX_TITLE_LENGTH),
        keywords=tuple(message.keywords),
        source_uri=message.source_uri,
        category=composed(message.category),
        language=message.language,
        metadata=metadata_from(message.metadata, f"{field}.metadata"),
        version=composed(message.version),
        valid_from=(
            moment_from(message.valid_from, f"{field}.valid_from")
            if message.HasField("valid_from")
            else None
        ),
        valid_until=(
            moment_from(message.valid_until, f"{field}.valid_until")
            if message.HasField("valid_until")
            else None
        ),
        superseded=message.superseded,
        content_hash=message.content_hash,
        chunking_profile=message.chunking_profile,
    )


def document_message(document: Document) -> documents_pb2.Document:
    """Returns the message of a document."""
    message = documents_pb2.Document()
    write_document(message, document)
    return message


def write_document(message: documents_pb2.Document, document: Document) -> None:
    """Writes a document into an empty message."""
    message.external_id = document.external_id
    message.title = document.title
    if document.keywords:
        message.keywords.extend(document.keywords)
    message.source_uri = document.source_uri
    message.category = document.category
    message.language = document.language
    for name, value in document.metadata.items():
        write_metadata_value(message.metadata[name], value)
    message.version = document.version
    if document.valid_from is not None:
        write_timestamp(message.valid_from, document.valid_from)
    if document.valid_until is not None:
        write_timestamp(message.valid_until, document.valid_until)
    message.superseded = document.superseded
    message.content_hash = document.content_hash
    message.chunking_profile = document.chunking_profile


def passage_from(message: documents_pb2.Passage, field: str) -> Passage:
    """Returns the passage. Raises InvalidArgument."""
    return Passage(
        chunk_index=message.chunk_index,
        text=checked_text(message.text, f"{field}.text", max_bytes=_MAX_PASSAGE_BYTES),
        heading_path=tuple(message.heading_path),
        location=message.location,
        token_estimate=message.token_estimate,
        embedded_text_hash=message.embedded_text_hash,
        parent=_parent_from(message, field) if message.HasField("parent") else None,
        cuts_token=message.cuts_token,
    )


def _parent_from(message: documents_pb2.Passage, field: str) -> ParentRange:
    given = message.parent
    parent = ParentRange(given.first_chunk_index, given.passage_count, given.gap)
    place = message.chunk_index - parent.first_chunk_index
    if not (parent.first_chunk_index >= 0 and 0 <= place < parent.passage_count):
        raise InvalidArgument(
            f"{field}.parent names {parent.passage_count} passages from "
            f"{parent.first_chunk_index} on, and passage {message.chunk_index} is none of them",
            field=f"{field}.parent",
        )
    return parent


def passage_message(passage: Passage) -> documents_pb2.Passage:
    """Returns the message of a passage."""
    message = documents_pb2.Passage()
    write_passage(message, passage)
    return message


def write_passage(message: documents_pb2.Passage, passage: Passage) -> None:
    """Writes a passage into an empty message."""
    message.chunk_index = passage.chunk_index
    message.text = passage.text
    if passage.heading_path:
        message.heading_path.extend(passage.heading_path)
    message.location = passage.location
    message.token_estimate = passage.token_estimate
    message.embedded_text_hash = passage.embedded_text_hash
    message.cuts_token = passage.cuts_token
