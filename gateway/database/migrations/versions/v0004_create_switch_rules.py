"""Create the tables beside the switches: overrides, rollouts, changes."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "justesse_switch_overrides",
        sa.Column("workspace", sa.String(63), primary_key=True),
        sa.Column("config_key", sa.String(128), primary_key=True),
        sa.Column("config_value", sa.Text(), nullable=False),
    )
    op.create_table(
        "justesse_switch_rollouts",
        sa.Column("config_key", sa.String(128), primary_key=True),
        sa.Column("config_value", sa.Text(), nullable=False),
        sa.Column("percent", sa.Float(), nullable=False),
    )
    op.create_table(
        "justesse_switch_changes",
        sa.Column(
            "number",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            primary_key=True,
            autoincrement=True,
        ),
        sa.Column("moment_ms", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("workspace", sa.String(63), nullable=False),
        sa.Column("config_key", sa.String(128), nullable=False),
        sa.Column("old_value", sa.Text()),
        sa.Column("new_value", sa.Text()),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "justesse_switch_observations",
        sa.Column("config_key", sa.String(128), primary_key=True),
        sa.Column("config_value", sa.Text()),
    )
    versions = op.create_table(
        "justesse_switch_versions",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("version", sa.BigInteger(), nullable=False),
    )
    op.bulk_insert(versions, [{"name": "switches", "version": 0}])


def downgrade() -> None:
    """Is refused: a schema only goes forward."""
    raise NotImplementedError("the schema only goes forward; restore a backup")
