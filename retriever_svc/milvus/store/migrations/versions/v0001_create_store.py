"""Create the store."""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_ID = "id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
_WORKSPACE_ID = "workspace_id BIGINT NOT NULL REFERENCES justesse_retriever_workspaces (id)"
_STATEMENTS = (
    "CREATE TABLE justesse_retriever_store (id INTEGER PRIMARY KEY, identity TEXT NOT NULL)",
    f"""
    CREATE TABLE justesse_retriever_workspaces (
        {_ID},
        slug TEXT COLLATE "C" UNIQUE,
        language TEXT NOT NULL,
        chunking_profile TEXT NOT NULL,
        preset TEXT NOT NULL,
        dense_index_kind TEXT NOT NULL,
        fusion TEXT NOT NULL,
        child_token_count INTEGER NOT NULL,
        preferred_space_id TEXT NOT NULL DEFAULT '',
        spaces_version BIGINT NOT NULL DEFAULT 0,
        document_count BIGINT NOT NULL DEFAULT 0,
        passage_count BIGINT NOT NULL DEFAULT 0,
        seq BIGINT NOT NULL DEFAULT 0,
        created_at BIGINT NOT NULL
    )
    """,
    f"""
    CREATE TABLE justesse_retriever_documents (
        {_ID},
        {_WORKSPACE_ID},
        external_id TEXT COLLATE "C" NOT NULL,
        title TEXT NOT NULL,
        keywords TEXT NOT NULL,
        source_uri TEXT NOT NULL,
        category TEXT COLLATE "C" NOT NULL,
        language TEXT COLLATE "C" NOT NULL,
        metadata JSONB NOT NULL,
        version TEXT COLLATE "C" NOT NULL,
        valid_from BIGINT,
        valid_until BIGINT,
        superseded BOOLEAN NOT NULL,
        content_hash TEXT NOT NULL,
        chunking_profile TEXT NOT NULL,
        passage_count INTEGER NOT NULL,
        updated_at BIGINT NOT NULL,
        UNIQUE (workspace_id, external_id)
    )
    """,
    f"""
    CREATE TABLE justesse_retriever_passages (
        {_ID},
        {_WORKSPACE_ID},
        document_id BIGINT NOT NULL REFERENCES justesse_retriever_documents (id),
        chunk_index INTEGER NOT NULL,
        text TEXT NOT NULL,
        heading_path TEXT NOT NULL,
        location TEXT NOT NULL,
        token_estimate INTEGER NOT NULL,
        embedded_text_hash TEXT NOT NULL,
        cuts_token BOOLEAN NOT NULL,
        parent_first INTEGER,
        parent_count INTEGER,
        parent_gap TEXT NOT NULL
    )
    """,
    "CREATE INDEX justesse_retriever_passages_by_document "
    "ON justesse_retriever_passages (document_id, chunk_index)",
    "CREATE INDEX justesse_retriever_passages_by_workspace "
    "ON justesse_retriever_passages (workspace_id, id)",
    f"""
    CREATE TABLE justesse_retriever_spaces (
        {_ID},
        {_WORKSPACE_ID},
        space_id TEXT NOT NULL,
        dimension INTEGER NOT NULL,
        passage_count BIGINT NOT NULL DEFAULT 0,
        stray_count BIGINT NOT NULL DEFAULT 0,
        canary BYTEA NOT NULL DEFAULT '',
        UNIQUE (workspace_id, space_id)
    )
    """,
    """
    CREATE TABLE justesse_retriever_vectors (
        space_key BIGINT NOT NULL REFERENCES justesse_retriever_spaces (id),
        passage_id BIGINT NOT NULL REFERENCES justesse_retriever_passages (id),
        vector BYTEA NOT NULL,
        sliced BOOLEAN NOT NULL,
        window_count INTEGER,
        windows BYTEA NOT NULL,
        PRIMARY KEY (space_key, passage_id)
    )
    """,
    "CREATE INDEX justesse_retriever_vectors_by_passage ON justesse_retriever_vectors (passage_id)",
    # Vectors do not shrink, and are read whole: compressing them costs time for nothing.
    "ALTER TABLE justesse_retriever_vectors ALTER COLUMN vector SET STORAGE EXTERNAL",
    "ALTER TABLE justesse_retriever_vectors ALTER COLUMN windows SET STORAGE EXTERNAL",
    """
    CREATE TABLE justesse_retriever_leases (
        workspace_id BIGINT NOT NULL REFERENCES justesse_retriever_workspaces (id),
        space_id TEXT NOT NULL,
        holder TEXT NOT NULL,
        until TIMESTAMP WITH TIME ZONE NOT NULL,
        PRIMARY KEY (workspace_id, space_id)
    )
    """,
    f"""
    CREATE TABLE justesse_retriever_outbox (
        {_ID},
        {_WORKSPACE_ID},
        passage_ids BIGINT[],
        dropped_spaces BIGINT[] NOT NULL
    )
    """,
    "CREATE INDEX justesse_retriever_outbox_by_workspace "
    "ON justesse_retriever_outbox (workspace_id, id)",
)


def upgrade() -> None:
    """Creates all tables."""
    for statement in _STATEMENTS:
        op.execute(statement)
