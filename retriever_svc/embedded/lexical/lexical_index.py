"""The BM25 index of one workspace on disk; used by the writer thread alone.

It is derived from the store. Changes are gathered with `apply` and become searchable, all at
once, with `commit`. The note beside it names the folder that counts; `exchange` puts another one,
built aside, in its place.
"""

import shutil
import uuid
from collections.abc import Collection, Iterable
from pathlib import Path

import structlog

from retriever_svc.embedded.failpoints import Failpoint, reach
from retriever_svc.embedded.lexical.lexical_fields import LAYOUT
from retriever_svc.embedded.lexical.lexical_searcher import LexicalSearcher
from retriever_svc.embedded.lexical.lexical_settings import LexicalSettings
from retriever_svc.embedded.lexical.term_index import TermIndex
from retriever_svc.embedded.lexical.watermark import (
    Watermark,
    read_watermark,
    write_watermark,
)
from retriever_svc.embedded.snapshots.durable_files import sync_folder
from retriever_svc.lexical_terms import languages_of
from retriever_svc.store.rows import LexicalEntry
from retriever_svc.workspaces import WorkspaceLanguage

_log = structlog.get_logger("retriever.lexical")


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
        opened = self._opened()
        self._terms, self._seq = (self._emptied(), 0) if opened is None else opened
        self._remove_others()

    @property
    def seq(self) -> int:
        """Number of the last change that is committed here; 0 for an empty index."""
        return self._seq

    @property
    def writer_open(self) -> bool:
        """Whether `apply` finds its writer open."""
        return self._terms.writer_open

    def apply(self, removed: Collection[int], entries: Iterable[LexicalEntry]) -> None:
        """Takes in a change; an entry replaces an earlier one of the same passage."""
        self._terms.apply(removed, entries)

    def commit(self, seq: int) -> None:
        """Makes what was applied durable and visible to the next `searcher`."""
        opstamp = self._terms.commit()
        self._seq = seq
        reach(Failpoint.INDEX_WRITTEN)
        self._note(opstamp)

    def take_merged(self) -> bool:
        """Lets the next `searcher` use segments merged since; returns whether there were any."""
        return self._terms.take_merged()

    def discard(self) -> None:
        """Forgets what was applied and not committed, after an error."""
        self._terms.discard()

    def rest(self) -> None:
        """Closes the writer, once merges in progress have ended; the next `apply` reopens it."""
        self._terms.rest()

    def searcher(self) -> LexicalSearcher:
        """Returns a searcher over what is committed; later commits do not change it."""
        return self._terms.searcher()

    def empty(self) -> None:
        """Throws the index away and begins an empty one."""
        self.rest()
        self._terms, self._seq = self._emptied(), 0

    def compaction_due(self) -> bool:
        """Whether so many entries are deleted that they distort the statistics."""
        share = self._terms.dead_share()
        return share > 0 and share >= self._settings.dead_share_limit

    def begun_aside(self) -> TermIndex:
        """Returns an empty index for `exchange`, in a folder beside the one that counts."""
        return TermIndex(self._path / uuid.uuid4().hex, self._languages, self._settings)

    def exchange(self, terms: TermIndex, seq: int) -> None:
        """Takes an index begun aside, which has every change up to `seq`, in place of its own."""
        opstamp = terms.commit()
        old, self._terms, self._seq = self._terms, terms, seq
        reach(Failpoint.COMPACTION_BUILT)
        # On the disk before the old one goes: it must not come back after a power cut.
        self._note(opstamp, synced=True)
        reach(Failpoint.COMPACTION_EXCHANGED)
        old.rest()
        self._remove_others()
        sync_folder(self._path)

    @property
    def _note_path(self) -> Path:
        return self._path.with_suffix(".json")

    def _note(self, opstamp: int, *, synced: bool = False) -> None:
        watermark = Watermark(
            self._store_identity,
            self._workspace_id,
            LAYOUT,
            self._seq,
            opstamp,
            self._terms.path.name,
        )
        write_watermark(self._note_path, watermark, synced=synced)

    def _opened(self) -> tuple[TermIndex, int] | None:
        watermark = read_watermark(self._note_path)
        if watermark is None or (
            watermark.store_identity,
            watermark.workspace_id,
            watermark.layout,
        ) != (self._store_identity, self._workspace_id, LAYOUT):
            return None
        folder = self._path / watermark.folder
        if folder.parent != self._path or not folder.is_dir():
            return None
        try:
            terms = TermIndex(folder, self._languages, self._settings)
            opstamp = terms.committed_opstamp()
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return (terms, watermark.seq) if opstamp >= watermark.opstamp else None

    def _emptied(self) -> TermIndex:
        self._note_path.unlink(missing_ok=True)
        if self._path.exists():
            shutil.rmtree(self._path)
        return self.begun_aside()

    def _remove_others(self) -> None:
        for other in self._path.iterdir():
            if other.name == self._terms.path.name:
                continue
            try:
                shutil.rmtree(other) if other.is_dir() else other.unlink()
            except OSError as error:
                _log.warning("old index not removed", path=str(other), error=str(error))
