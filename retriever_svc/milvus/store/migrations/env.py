"""Alembic's door: runs the migrations over the connection it is given, in one transaction."""

from alembic import context

from retriever_svc.milvus.store.schema import VERSION_TABLE

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
