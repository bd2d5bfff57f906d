"""Give workspaces settings of the fusion, and compare texts of documents in one Unicode form."""

import unicodedata
from typing import Any

import orjson
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TEXTS = ("category", "language", "version")


def upgrade() -> None:
    """Adds the settings, with their defaults, and composes what filters compare (NFC)."""
    op.execute("ALTER TABLE workspaces ADD COLUMN fusion TEXT NOT NULL DEFAULT '{}'")
    connection = op.get_bind()
    rows = connection.exec_driver_sql(
        f"SELECT id, metadata, {', '.join(_TEXTS)} FROM documents"
    ).fetchall()
    for document_id, *stored in rows:
        if all(text.isascii() for text in stored):
            continue
        metadata, *texts = stored
        composed = (_composed_metadata(metadata), *map(_composed, texts))
        connection.exec_driver_sql(
            "UPDATE documents SET metadata = ?, category = ?, language = ?, version = ? "
            "WHERE id = ?",
            (*composed, document_id),
        )


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _composed_metadata(encoded: str) -> str:
    metadata: dict[str, list[Any]] = orjson.loads(encoded)
    composed: dict[str, list[Any]] = {}
    for name, (kind, value) in metadata.items():
        # A name whose composed form is taken stays as it is: no fact is lost.
        other = _composed(name)
        key = name if other != name and (other in metadata or other in composed) else other
        composed[key] = [kind, _composed(value) if kind == "string" else value]
    return orjson.dumps(composed).decode()
