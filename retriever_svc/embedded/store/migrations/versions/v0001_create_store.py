"""Create the store."""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# Every id is AUTOINCREMENT: an id that an index may still hold is never given to another row.
_STATEMENTS = (
    """
    CREATE TABLE store (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        identity TEXT NOT NULL,
        epoch INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE workspaces (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        slug TEXT UNIQUE,
        language TEXT NOT NULL,
        chunking_profile TEXT NOT NULL,
        preset TEXT NOT NULL,
        dense_index_kind TEXT NOT NULL,
        preferred_space_id TEXT NOT NULL DEFAULT '',
        spaces_version INTEGER NOT NULL DEFAULT 0,
        document_count INTEGER NOT NULL DEFAULT 0,
        passage_count INTEGER NOT NULL DEFAULT 0,
        seq INTEGER NOT NULL DEFAULT 0,
        removals_pruned_to INTEGER NOT NULL DEFAULT 0,
        created_at INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
        external_id TEXT NOT NULL,
        title TEXT NOT NULL,
        keywords TEXT NOT NULL,
        source_uri TEXT NOT NULL,
        category TEXT NOT NULL,
        language TEXT NOT NULL,
        metadata TEXT NOT NULL,
        version TEXT NOT NULL,
        valid_from INTEGER,
        valid_until INTEGER,
        superseded INTEGER NOT NULL,
        content_hash TEXT NOT NULL,
        chunking_profile TEXT NOT NULL,
        passage_count INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        UNIQUE (workspace_id, external_id)
    )
    """,
    """
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
        document_id INTEGER NOT NULL REFERENCES documents (id),
        chunk_index INTEGER NOT NULL,
        text TEXT NOT NULL,
        heading_path TEXT NOT NULL,
        location TEXT NOT NULL,
        token_estimate INTEGER NOT NULL,
        embedded_text_hash TEXT NOT NULL,
        seq INTEGER NOT NULL
    )
    """,
    "CREATE INDEX passages_by_document ON passages (document_id, chunk_index)",
    "CREATE INDEX passages_by_seq ON passages (workspace_id, seq)",
    """
    CREATE TABLE spaces (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
        space_id TEXT NOT NULL,
        dimension INTEGER NOT NULL,
        passage_count INTEGER NOT NULL DEFAULT 0,
        UNIQUE (workspace_id, space_id)
    )
    """,
    """
    CREATE TABLE vectors (
        id INTEGER PRIMARY KEY,
        workspace_id INTEGER NOT NULL,
        space_key INTEGER NOT NULL REFERENCES spaces (id),
        passage_id INTEGER NOT NULL REFERENCES passages (id),
        vector BLOB NOT NULL,
        seq INTEGER NOT NULL,
        UNIQUE (space_key, passage_id)
    )
    """,
    "CREATE INDEX vectors_by_passage ON vectors (passage_id)",
    """
    CREATE TABLE windows (
        id INTEGER PRIMARY KEY,
        workspace_id INTEGER NOT NULL,
        space_key INTEGER NOT NULL REFERENCES spaces (id),
        passage_id INTEGER NOT NULL REFERENCES passages (id),
        window_count INTEGER NOT NULL,
        vectors BLOB NOT NULL,
        UNIQUE (space_key, passage_id)
    )
    """,
    "CREATE INDEX windows_by_passage ON windows (passage_id)",
    """
    CREATE TABLE removals (
        workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
        seq INTEGER NOT NULL,
        passage_id INTEGER NOT NULL,
        PRIMARY KEY (workspace_id, seq, passage_id)
    ) WITHOUT ROWID
    """,
)


def upgrade() -> None:
    """Creates all tables."""
    for statement in _STATEMENTS:
        op.execute(statement)
