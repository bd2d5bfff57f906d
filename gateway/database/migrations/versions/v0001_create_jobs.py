"""Create jobs, their tasks, turns and leases."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# Only an INTEGER PRIMARY KEY counts up by itself in SQLite.
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "justesse_jobs",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("workspace", sa.String(63), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("create_ms", sa.BigInteger(), nullable=False),
        sa.Column("update_ms", sa.BigInteger(), nullable=False),
        sa.Column("finish_ms", sa.BigInteger()),
    )
    op.create_index("justesse_jobs_by_workspace", "justesse_jobs", ["workspace", "id"])
    op.create_index("justesse_jobs_by_finish", "justesse_jobs", ["finish_ms"])
    op.create_table(
        "justesse_job_tasks",
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("job_id", sa.String(32), sa.ForeignKey("justesse_jobs.id"), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("workspace", sa.String(63), nullable=False),
        sa.Column("subject", sa.String(512), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("result", sa.JSON()),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("error_status", sa.String(32), nullable=False),
        sa.Column("error_reason", sa.String(64), nullable=False),
        sa.Column("error_field", sa.String(64), nullable=False),
        sa.Column("done_count", sa.BigInteger(), nullable=False),
        sa.Column("total_count", sa.BigInteger(), nullable=False),
        sa.Column("attempt_count", sa.Integer(), nullable=False),
        sa.Column("not_before_ms", sa.BigInteger(), nullable=False),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("lease_holder", sa.String(64), nullable=False),
        sa.Column("lease_token", sa.BigInteger(), nullable=False),
        sa.Column("lease_until_ms", sa.BigInteger(), nullable=False),
        sa.Column("update_ms", sa.BigInteger(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("justesse_job_tasks_by_job", "justesse_job_tasks", ["job_id", "number"])
    op.create_index(
        "justesse_job_tasks_by_state", "justesse_job_tasks", ["state", "kind", "workspace"]
    )
    op.create_index(
        "justesse_job_tasks_by_subject",
        "justesse_job_tasks",
        ["workspace", "kind", "subject", "number"],
    )
    op.create_table(
        "justesse_job_turns",
        sa.Column("workspace", sa.String(63), primary_key=True),
        sa.Column("turn", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "justesse_leases",
        sa.Column("name", sa.String(255), primary_key=True),
        sa.Column("holder", sa.String(64), nullable=False),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("until_ms", sa.BigInteger(), nullable=False),
    )


def downgrade() -> None:
    """Is refused: a schema only goes forward."""
    raise NotImplementedError("the schema only goes forward; restore a backup")
