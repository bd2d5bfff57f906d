"""Stores a document with its passages and vectors, in place of its older state, in one step."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from chassis.errors import InvalidArgument
from retriever_svc.documents import DocumentUpsert, UpsertOutcome, UpsertReceipt
from retriever_svc.store.document_change import DocumentChange
from retriever_svc.store.passage_matching import PassageMatch, StoredText, match_passages
from retriever_svc.store.rows import DocumentRow, LexicalEntry, PassageRow, WorkspaceRow
from retriever_svc.store.stored_vectors import StoredVector
from retriever_svc.store.tables import StoreTables
from retriever_svc.store.vector_completion import complete_vectors
from retriever_svc.store.vector_writing import VectorWriter
from retriever_svc.unit_vectors import UnitVectors, checked_vectors


def upsert_document(
    tables: StoreTables, upsert: DocumentUpsert, now: datetime
) -> tuple[UpsertReceipt, DocumentChange]:
    """Stores the document; where it is there with equal content, only what it lacks.

    Runs inside of a transaction that the caller rolls back on any error. Raises NotFound and
    InvalidArgument.
    """
    workspace = tables.find_workspace(upsert.workspace)
    vectors = [checked_vectors(given, len(upsert.passages)) for given in upsert.vectors]
    if len({given.space_id for given in vectors}) < len(vectors):
        raise InvalidArgument(
            "vectors name a space twice; send one block a space", field="passages.vectors"
        )
    stored = tables.find_document(workspace.id, upsert.document.external_id)
    content_hash = upsert.document.content_hash
    if stored is not None and content_hash and stored.document.content_hash == content_hash:
        return complete_vectors(tables, workspace, stored, upsert.passages, vectors)
    return _Replacement(tables, workspace, upsert, vectors, stored, now).store()


class _Replacement:
    """One upsert that changes the content of a document, or brings a new one."""

    def __init__(
        self,
        tables: StoreTables,
        workspace: WorkspaceRow,
        upsert: DocumentUpsert,
        vectors: Sequence[UnitVectors],
        stored: DocumentRow | None,
        now: datetime,
    ) -> None:
        self._tables = tables
        self._workspace = workspace
        self._document = upsert.document
        self._passages = upsert.passages
        self._vectors = vectors
        self._stored = stored
        self._now = now
        self._seq = workspace.seq + 1
        self._old = self._old_passages()
        self._held = {} if stored is None else self._held_before()
        self._writer = VectorWriter(
            tables, workspace, self._seq, {id_: set(keys) for id_, keys in self._held.items()}
        )

    def store(self) -> tuple[UpsertReceipt, DocumentChange]:
        """Writes everything; returns the receipt and what the indexes must take in."""
        matches = match_passages(
            [
                StoredText(row.id, row.passage.text, row.passage.embedded_text_hash)
                for row in self._old
            ],
            self._passages,
        )
        # Read before anything is deleted: a source may be a passage that goes.
        copies = self._copies(matches)
        document_id = self._write_document()
        removed = self._remove_passages(matches)
        ids = self._write_passages(document_id, matches)
        given = self._write_given_vectors(ids)
        for position, found in copies.items():
            for vector in found:
                if vector.space_key not in given[position]:
                    self._writer.put_copy(ids[position], vector)
        workspace = self._settle()
        receipt = UpsertReceipt(
            UpsertOutcome.CREATED if self._stored is None else UpsertOutcome.REPLACED,
            passage_count=len(ids),
            awaiting_passage_count=sum(not self._writer.held.get(id_) for id_ in ids),
            kept_vector_count=self._kept(matches, given),
            seq=self._seq,
        )
        change = DocumentChange(
            workspace,
            removed=removed,
            entries=self._entries(ids),
            lost=self._lost(removed),
            put=self._writer.put(),
            erasing=self._stored is not None,
        )
        return receipt, change

    def _old_passages(self) -> list[PassageRow]:
        if self._stored is None:
            return []
        return self._tables.passages_of_document(self._workspace.id, self._stored.id)

    def _held_before(self) -> dict[int, set[int]]:
        assert self._stored is not None
        return self._tables.spaces_by_passage(self._workspace.id, self._stored.id)

    def _copies(self, matches: Sequence[PassageMatch]) -> dict[int, list[StoredVector]]:
        return {
            position: self._tables.vectors_of_passage(self._workspace.id, match.vector_source)
            for position, match in enumerate(matches)
            if match.vector_source is not None and match.vector_source != match.passage_id
        }

    def _write_document(self) -> int:
        count = len(self._passages)
        if self._stored is None:
            return self._tables.insert_document(
                self._workspace.id,
                self._document,
                passage_count=count,
                seq=self._seq,
                now=self._now,
            )
        self._tables.update_document(
            self._workspace.id,
            self._stored.id,
            self._document,
            passage_count=count,
            seq=self._seq,
            now=self._now,
        )
        return self._stored.id

    def _remove_passages(self, matches: Sequence[PassageMatch]) -> tuple[int, ...]:
        living = {match.passage_id for match in matches}
        removed = tuple(row.id for row in self._old if row.id not in living)
        for passage_id in removed:
            self._writer.drop_all(passage_id)
        self._tables.delete_passages(self._workspace.id, removed, self._seq)
        return removed

    def _write_passages(self, document_id: int, matches: Sequence[PassageMatch]) -> list[int]:
        pairs = list(zip(self._passages, matches, strict=True))
        new = [passage for passage, match in pairs if match.passage_id is None]
        new_ids = iter(
            self._tables.insert_passages(self._workspace.id, document_id, new, self._seq)
        )
        ids = []
        for passage, match in pairs:
            if match.passage_id is None:
                ids.append(next(new_ids))
                continue
            self._tables.update_passage(self._workspace.id, match.passage_id, passage, self._seq)
            if match.vector_source != match.passage_id:
                self._writer.drop_all(match.passage_id)
            ids.append(match.passage_id)
        return ids

    def _write_given_vectors(self, ids: Sequence[int]) -> list[set[int]]:
        """Returns, for each passage, the keys of the spaces that vectors were given for."""
        given: list[set[int]] = [set() for _ in ids]
        for vectors in self._vectors:
            space = self._writer.ledger.enter(vectors.space_id, vectors.dimension, vectors.canary)
            for row, position in enumerate(vectors.positions.tolist()):
                self._writer.put_row(ids[position], space.key, vectors, row)
                given[position].add(space.key)
        return given

    def _kept(self, matches: Sequence[PassageMatch], given: Sequence[set[int]]) -> int:
        return sum(
            match.vector_source is not None
            and bool(self._held.get(match.vector_source, set()) - given[position])
            for position, match in enumerate(matches)
        )

    def _settle(self) -> WorkspaceRow:
        preferred, spaces_version = self._writer.ledger.settle()
        self._tables.update_workspace(
            self._workspace.id,
            seq=self._seq,
            document_count=self._workspace.document_count + (self._stored is None),
            passage_count=self._workspace.passage_count + len(self._passages) - len(self._old),
            preferred_space_id=preferred,
            spaces_version=spaces_version,
        )
        return self._tables.read_workspace(self._workspace.id)

    def _entries(self, ids: Sequence[int]) -> tuple[LexicalEntry, ...]:
        document = self._document
        return tuple(
            LexicalEntry(
                passage_id,
                document.language,
                document.title,
                passage.heading_path,
                document.keywords,
                passage.text,
            )
            for passage_id, passage in zip(ids, self._passages, strict=True)
        )

    def _lost(self, removed: Sequence[int]) -> tuple[tuple[str, int], ...]:
        gone: Mapping[int, None] = dict.fromkeys(removed)
        return tuple(pair for pair in self._writer.lost() if pair[1] not in gone)
