"""Reads the passages of one search from its snapshot of the store, each once."""

from collections.abc import Collection, Iterable

from retriever_svc.filters import Filter, fulfils
from retriever_svc.lexical_terms import language_of, passage_terms
from retriever_svc.milvus.collections.workspace_collections import lexical_entry
from retriever_svc.milvus.searching.search_view import SearchView
from retriever_svc.milvus.store.document_rows import read_documents
from retriever_svc.milvus.store.passage_rows import read_passages
from retriever_svc.store.rows import DocumentRow, PassageRow


class KnownPassages:
    """Keeps what was read."""

    def __init__(self, view: SearchView) -> None:
        self._view = view
        self._passages: dict[int, PassageRow] = {}
        self._documents: dict[int, DocumentRow] = {}

    def read(self, passage_ids: Iterable[int]) -> None:
        """Reads passages, and their documents, that are not known yet."""
        missing = [one for one in dict.fromkeys(passage_ids) if one not in self._passages]
        self.add(read_passages(self._view.store, self._view.row.id, missing).values())

    def add(self, rows: Iterable[PassageRow]) -> None:
        """Takes passages that were read; their documents are read where they are not known."""
        added = {row.id: row for row in rows}
        wanted = {row.document_id for row in added.values()} - self._documents.keys()
        if wanted:
            self._documents |= read_documents(self._view.store, self._view.row.id, wanted)
        self._passages |= {
            passage_id: row
            for passage_id, row in added.items()
            if row.document_id in self._documents
        }

    def unfit(self, passage_ids: Collection[int], condition: Filter | None) -> frozenset[int]:
        """Returns those that the store does not hold, or whose document misses the condition.

        Milvus may be ahead of the snapshot, or behind it while a change is not acknowledged.
        """
        self.read(passage_ids)
        return frozenset(
            one
            for one in passage_ids
            if one not in self._passages
            or (condition is not None and not fulfils(self.document(one).document, condition))
        )

    def passage(self, passage_id: int) -> PassageRow:
        """Returns a passage that was read."""
        return self._passages[passage_id]

    def document(self, passage_id: int) -> DocumentRow:
        """Returns the document of a passage that was read."""
        return self._documents[self._passages[passage_id].document_id]

    def term_share(self, passage_id: int, query: dict[str, tuple[str, ...]]) -> float | None:
        """Returns the share, 0 to 1, of the query's different terms that a passage holds.

        None for a query without terms. Of several languages the one that fits best counts.
        """
        entry = lexical_entry(self.passage(passage_id), self.document(passage_id))
        language = language_of(entry, self._view.languages)
        counted = self._view.boosts.keys()
        held = {
            term
            for part, terms in passage_terms(entry, language).items()
            if part in counted
            for term in terms
        }
        shares = [
            len(held.intersection(terms)) / len(terms) if of_language == language else 0.0
            for of_language, terms in query.items()
            if terms
        ]
        return max(shares, default=None)
