"""The tables as statements see them; the migrations create them, and a test compares the two.

Texts that are compared or ordered use the collation "C": by code point, on every server alike.
Moments are whole microseconds since 1970 UTC.
"""

from collections.abc import Collection

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    any_,
    literal,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

METADATA = MetaData()
_ORDERED = Text(collation="C")


def among(column: ColumnElement[int], ids: Collection[int]) -> ColumnElement[bool]:
    """Returns the clause that a column holds one of the ids."""
    return column == any_(literal(list(ids), ARRAY(BigInteger)))


def _of(table: str) -> ForeignKey:
    return ForeignKey(f"justesse_retriever_{table}.id")


def _id() -> Column[int]:
    # Never given twice: an index may still hold the id of a row that is gone.
    return Column("id", BigInteger, Identity(always=True), primary_key=True)


def _workspace_id() -> Column[int]:
    return Column("workspace_id", BigInteger, _of("workspaces"), nullable=False)


STORE = Table(
    "justesse_retriever_store",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("identity", Text, nullable=False),
)

WORKSPACES = Table(
    "justesse_retriever_workspaces",
    METADATA,
    _id(),
    # None once the workspace is deleted and its rows wait for their end.
    Column("slug", _ORDERED, unique=True),
    Column("language", Text, nullable=False),
    Column("chunking_profile", Text, nullable=False),
    Column("preset", Text, nullable=False),
    Column("dense_index_kind", Text, nullable=False),
    Column("fusion", Text, nullable=False),
    Column("child_token_count", Integer, nullable=False),
    Column("preferred_space_id", Text, nullable=False, server_default=""),
    Column("spaces_version", BigInteger, nullable=False, server_default="0"),
    Column("document_count", BigInteger, nullable=False, server_default="0"),
    Column("passage_count", BigInteger, nullable=False, server_default="0"),
    Column("seq", BigInteger, nullable=False, server_default="0"),
    Column("created_at", BigInteger, nullable=False),
)

DOCUMENTS = Table(
    "justesse_retriever_documents",
    METADATA,
    _id(),
    _workspace_id(),
    Column("external_id", _ORDERED, nullable=False),
    Column("title", Text, nullable=False),
    Column("keywords", Text, nullable=False),
    Column("source_uri", Text, nullable=False),
    Column("category", _ORDERED, nullable=False),
    Column("language", _ORDERED, nullable=False),
    Column("metadata", JSONB, nullable=False),
    Column("version", _ORDERED, nullable=False),
    Column("valid_from", BigInteger),
    Column("valid_until", BigInteger),
    Column("superseded", Boolean, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("chunking_profile", Text, nullable=False),
    Column("passage_count", Integer, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    UniqueConstraint("workspace_id", "external_id"),
    Index("justesse_retriever_documents_by_workspace", "workspace_id", "id"),
)

PASSAGES = Table(
    "justesse_retriever_passages",
    METADATA,
    _id(),
    _workspace_id(),
    Column("document_id", BigInteger, _of("documents"), nullable=False),
    Column("chunk_index", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("heading_path", Text, nullable=False),
    Column("location", Text, nullable=False),
    Column("token_estimate", Integer, nullable=False),
    Column("embedded_text_hash", Text, nullable=False),
    Column("cuts_token", Boolean, nullable=False),
    Column("parent_first", Integer),
    Column("parent_count", Integer),
    Column("parent_gap", Text, nullable=False),
    Index("justesse_retriever_passages_by_document", "document_id", "chunk_index"),
    Index("justesse_retriever_passages_by_workspace", "workspace_id", "id"),
)

SPACES = Table(
    "justesse_retriever_spaces",
    METADATA,
    _id(),
    _workspace_id(),
    Column("space_id", Text, nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("passage_count", BigInteger, nullable=False, server_default="0"),
    Column("stray_count", BigInteger, nullable=False, server_default="0"),
    Column("canary", LargeBinary, nullable=False, server_default=""),
    UniqueConstraint("workspace_id", "space_id"),
)

VECTORS = Table(
    "justesse_retriever_vectors",
    METADATA,
    Column("space_key", BigInteger, _of("spaces"), primary_key=True),
    Column("passage_id", BigInteger, _of("passages"), primary_key=True),
    Column("vector", LargeBinary, nullable=False),
    Column("sliced", Boolean, nullable=False),
    # None while the windows are awaited.
    Column("window_count", Integer),
    Column("windows", LargeBinary, nullable=False),
    Index("justesse_retriever_vectors_by_passage", "passage_id"),
)

LEASES = Table(
    "justesse_retriever_leases",
    METADATA,
    Column("workspace_id", BigInteger, _of("workspaces"), primary_key=True),
    Column("space_id", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("until", DateTime(timezone=True), nullable=False),
)

OUTBOX = Table(
    "justesse_retriever_outbox",
    METADATA,
    _id(),
    _workspace_id(),
    # Passages whose entries in Milvus may differ from the store; None for all of the workspace.
    Column("passage_ids", ARRAY(BigInteger)),
    # Spaces that are gone with their collections.
    Column("dropped_spaces", ARRAY(BigInteger), nullable=False),
    Index("justesse_retriever_outbox_by_workspace", "workspace_id", "id"),
)
