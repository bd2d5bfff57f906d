"""The BM25 index of one workspace on disk; used by the writer thread alone.

It is derived from the store. Changes are gathered with `apply` and become searchable, all at
once, with `commit`.
"""

import shutil
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import orjson
import tantivy

from retriever_svc.embedded.failpoints import Failpoint, reach
from retriever_svc.embedded.lexical.lexical_fields import (
    ID_FIELD,
    LAYOUT,
    build_schema,
    document_from,
    languages_of,
    register_tokenizer,
)
from retriever_svc.embedded.lexical.lexical_searcher import LexicalSearcher
from retriever_svc.embedded.lexical.lexical_settings import LexicalSettings
from retriever_svc.embedded.lexical.watermark import (
    Watermark,
    read_watermark,
    write_watermark,
)
from retriever_svc.embedded.store.passage_rows import LexicalEntry
from retriever_svc.workspaces import WorkspaceLanguage


class LexicalIndex:
    """Holds the terms of all passages of a workspace up to change number `seq`."""

    def __init__(
        self,
        path: Path,
        *,
        store_identity: str,
        workspace_id: int,
        language: WorkspaceLanguage,
        settings: LexicalSettings,
    ) -> None:
        """Opens the index in this folder, or an empty one where that cannot be trusted."""
        self._path = path
        self._store_identity = store_identity
        self._workspace_id = workspace_id
        self._languages = languages_of(language)
        self._settings = settings
        self._schema = build_schema()
        self._writer: Any = None
        opened = self._opened()
        if opened is None:
            self._index, self._seq = self._emptied(), 0
        else:
            self._index, self._seq = opened

    @property
    def seq(self) -> int:
        """Number of the last change that is committed here; 0 for an empty index."""
        return self._seq

    @property
    def writer_open(self) -> bool:
        """Whether `apply` finds its writer open."""
        return self._writer is not None

    def apply(self, removed: Collection[int], entries: Iterable[LexicalEntry]) -> None:
        """Takes in a change; an entry replaces an earlier one of the same passage."""
        writer = self._opened_writer()
        for passage_id in removed:
            writer.delete_documents_by_term(ID_FIELD, passage_id)
        for entry in entries:
            writer.delete_documents_by_term(ID_FIELD, entry.passage_id)
            writer.add_document(document_from(entry, self._languages))

    def rebuild(self, entries: Iterable[LexicalEntry]) -> None:
        """Takes in these entries in place of everything; counts deleted entries no longer."""
        writer = self._opened_writer()
        # `delete_all_documents` would set the clock of operations back: later deletions fail then.
        writer.delete_documents_by_query(tantivy.Query.all_query())
        for entry in entries:
            writer.add_document(document_from(entry, self._languages))

    def commit(self, seq: int) -> None:
        """Makes what was applied durable and visible to the next `searcher`."""
        opstamp = self._opened_writer().commit()
        self._index.reload()
        self._seq = seq
        reach(Failpoint.INDEX_WRITTEN)
        watermark = Watermark(self._store_identity, self._workspace_id, LAYOUT, seq, int(opstamp))
        write_watermark(self._watermark_path, watermark)

    def discard(self) -> None:
        """Forgets what was applied and not committed, after an error."""
        self._writer = None

    def rest(self) -> None:
        """Closes the writer, once merges in progress have ended; the next `apply` reopens it."""
        if self._writer is not None:
            self._writer.wait_merging_threads()
            self._writer = None

    def searcher(self) -> LexicalSearcher:
        """Returns a searcher over what is committed; later commits do not change it."""
        return LexicalSearcher(
            self._index.searcher(), self._schema, self._languages, self._settings
        )

    def empty(self) -> None:
        """Throws the index away and begins an empty one."""
        self.rest()
        self._index, self._seq = self._emptied(), 0

    def compaction_due(self) -> bool:
        """Whether so many entries are deleted that they distort the statistics."""
        total = dead = 0
        for segment in self._meta()["segments"]:
            total += segment["max_doc"]
            dead += (segment["deletes"] or {}).get("num_deleted_docs", 0)
        return dead > 0 and dead >= total * self._settings.dead_share_limit

    @property
    def _watermark_path(self) -> Path:
        return self._path.with_suffix(".json")

    def _meta(self) -> Any:
        return orjson.loads((self._path / "meta.json").read_bytes())

    def _opened(self) -> tuple[Any, int] | None:
        watermark = read_watermark(self._watermark_path)
        if watermark is None or (
            watermark.store_identity,
            watermark.workspace_id,
            watermark.layout,
        ) != (self._store_identity, self._workspace_id, LAYOUT):
            return None
        try:
            index = self._prepared(tantivy.Index(self._schema, path=str(self._path), reuse=True))
            opstamp = self._meta()["opstamp"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return (index, watermark.seq) if opstamp >= watermark.opstamp else None

    def _emptied(self) -> Any:
        self._watermark_path.unlink(missing_ok=True)
        if self._path.exists():
            shutil.rmtree(self._path)
        self._path.mkdir(parents=True)
        return self._prepared(tantivy.Index(self._schema, path=str(self._path)))

    def _prepared(self, index: Any) -> Any:
        register_tokenizer(index)
        index.config_reader("manual")
        index.reload()
        return index

    def _opened_writer(self) -> Any:
        if self._writer is None:
            self._writer = self._index.writer(
                heap_size=self._settings.writer_heap_bytes, num_threads=1
            )
        return self._writer
