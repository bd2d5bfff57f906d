"""Create the table of API keys."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "justesse_keys",
        sa.Column("prefix", sa.String(16), primary_key=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("grants", sa.JSON(), nullable=False),
        sa.Column("creator", sa.String(200), nullable=False),
        sa.Column("create_ms", sa.BigInteger(), nullable=False),
        sa.Column("expire_ms", sa.BigInteger()),
        sa.Column("revoke_ms", sa.BigInteger()),
    )


def downgrade() -> None:
    """Is refused: a schema only goes forward."""
    raise NotImplementedError("the schema only goes forward; restore a backup")
