"""Create the glossaries of workspaces and their versions."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "justesse_glossary",
        sa.Column("workspace", sa.String(63), primary_key=True),
        sa.Column("name", sa.String(400), primary_key=True),
        sa.Column("term", sa.String(100), nullable=False),
        sa.Column("synonyms", sa.JSON(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "justesse_glossary_versions",
        sa.Column("workspace", sa.String(63), primary_key=True),
        sa.Column("version", sa.BigInteger(), nullable=False),
    )


def downgrade() -> None:
    """Is refused: a schema only goes forward."""
    raise NotImplementedError("the schema only goes forward; restore a backup")
