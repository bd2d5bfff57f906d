"""Note which passages make up one block, and into what parts a workspace cuts blocks."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the columns; passages that are there stand alone."""
    op.execute("ALTER TABLE passages ADD COLUMN parent_first INTEGER")
    op.execute("ALTER TABLE passages ADD COLUMN parent_count INTEGER")
    op.execute("ALTER TABLE passages ADD COLUMN parent_gap TEXT NOT NULL DEFAULT ''")
    op.execute("ALTER TABLE workspaces ADD COLUMN child_token_count INTEGER NOT NULL DEFAULT 0")
