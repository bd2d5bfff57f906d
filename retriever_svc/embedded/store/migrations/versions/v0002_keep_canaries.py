"""Keep a canary with each space, and count the passages that the preferred space lacks."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_STATEMENTS = (
    "ALTER TABLE spaces ADD COLUMN canary BLOB NOT NULL DEFAULT x''",
    "ALTER TABLE spaces ADD COLUMN stray_count INTEGER NOT NULL DEFAULT 0",
    """
    UPDATE spaces SET stray_count = (
        SELECT COUNT(*) FROM vectors WHERE vectors.space_key = spaces.id AND NOT EXISTS (
            SELECT 1 FROM vectors AS others JOIN spaces AS preferred
                ON preferred.id = others.space_key
            JOIN workspaces ON workspaces.id = preferred.workspace_id
            WHERE others.passage_id = vectors.passage_id
                AND preferred.space_id = workspaces.preferred_space_id
        )
    )
    """,
)


def upgrade() -> None:
    """Adds the columns and fills them."""
    for statement in _STATEMENTS:
        op.execute(statement)
