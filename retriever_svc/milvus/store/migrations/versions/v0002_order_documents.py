"""Let copies read the documents of one workspace in the order they came."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the index."""
    op.execute(
        "CREATE INDEX justesse_retriever_documents_by_workspace "
        "ON justesse_retriever_documents (workspace_id, id)"
    )
