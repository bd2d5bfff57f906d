"""Note since when deleted content may still lie in the files of a workspace."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the table, with a note for each workspace: earlier builds noted nothing."""
    op.execute(
        """
        CREATE TABLE deleted_content (
            workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
            purging INTEGER NOT NULL,
            since INTEGER NOT NULL,
            PRIMARY KEY (workspace_id, purging)
        ) WITHOUT ROWID
        """
    )
    op.execute(
        "INSERT INTO deleted_content (workspace_id, purging, since) "
        "SELECT id, 0, strftime('%s', 'now') * 1000000 FROM workspaces WHERE slug IS NOT NULL"
    )
