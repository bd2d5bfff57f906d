"""One tantivy index in a folder of its own: what is applied becomes searchable with `commit`."""

import shutil
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import orjson
import tantivy

from retriever_svc.embedded.lexical.lexical_fields import (
    ID_FIELD,
    build_schema,
    document_from,
    register_tokenizer,
)
from retriever_svc.embedded.lexical.lexical_searcher import LexicalSearcher
from retriever_svc.embedded.lexical.lexical_settings import LexicalSettings
from retriever_svc.store.rows import LexicalEntry


class TermIndex:
    """Used by one thread at a time."""

    def __init__(self, path: Path, languages: tuple[str, ...], settings: LexicalSettings) -> None:
        """Opens the index in the folder, or begins one in a folder that is empty or not there.

        Raises OSError or ValueError for a folder that holds something else.
        """
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._languages = languages
        self._settings = settings
        self._schema = build_schema()
        self._index = tantivy.Index(self._schema, path=str(path), reuse=True)
        register_tokenizer(self._index)
        self._index.config_reader("manual")
        self._shown = self._state_on_disk()
        self._index.reload()
        self._writer: Any = None

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

    def commit(self) -> int:
        """Makes what was applied durable and visible to the next `searcher`.

        Returns tantivy's own count of operations.
        """
        opstamp = int(self._opened_writer().commit())
        self._shown = self._state_on_disk()
        self._index.reload()
        return opstamp

    def take_merged(self) -> bool:
        """Lets the next `searcher` use segments merged since; returns whether there were any."""
        found = self._state_on_disk()
        if found == self._shown:
            return False
        self._shown = found
        self._index.reload()
        return True

    def discard(self) -> None:
        """Forgets what was applied and not committed, after an error."""
        self._writer = None

    def rest(self) -> None:
        """Closes the writer, once merges in progress have ended; the next `apply` reopens it."""
        if self._writer is not None:
            self._writer.wait_merging_threads()
            self._writer = None

    def remove(self) -> None:
        """Closes the index and removes its folder. Raises OSError."""
        self.rest()
        shutil.rmtree(self.path)

    def searcher(self) -> LexicalSearcher:
        """Returns a searcher over what is committed; later commits do not change it."""
        return LexicalSearcher(
            self._index.searcher(), self._schema, self._languages, self._settings
        )

    def committed_opstamp(self) -> int:
        """Returns the count of operations on disk. Raises ValueError for a torn file."""
        return int(self._meta()["opstamp"])

    def dead_share(self) -> float:
        """Returns the share of entries on disk that are deleted, which statistics still count."""
        total = dead = 0
        for segment in self._meta()["segments"]:
            total += segment["max_doc"]
            dead += (segment["deletes"] or {}).get("num_deleted_docs", 0)
        return dead / total if total else 0.0

    def _state_on_disk(self) -> tuple[int, int]:
        # Tantivy replaces the file at every commit and merge. Looked at before it is read: what
        # happens between the two is taken in once more, never missed.
        found = self._meta_path.stat()
        return found.st_ino, found.st_mtime_ns

    @property
    def _meta_path(self) -> Path:
        return self.path / "meta.json"

    def _meta(self) -> Any:
        return orjson.loads(self._meta_path.read_bytes())

    def _opened_writer(self) -> Any:
        if self._writer is None:
            self._writer = self._index.writer(
                heap_size=self._settings.writer_heap_bytes, num_threads=1
            )
        return self._writer
