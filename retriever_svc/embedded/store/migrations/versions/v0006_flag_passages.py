"""Note which passages cut a word, and which vectors are means of slices."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the columns; nothing is flagged of what is there, until it is stored anew."""
    op.execute("ALTER TABLE passages ADD COLUMN cuts_token INTEGER NOT NULL DEFAULT 0")
    op.execute("ALTER TABLE vectors ADD COLUMN sliced INTEGER NOT NULL DEFAULT 0")
