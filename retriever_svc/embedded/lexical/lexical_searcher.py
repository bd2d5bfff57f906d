"""Searches one committed state of a BM25 index.

Scores are BM25 with k1 = 1.2 and b = 0.75, summed over terms and fields with the boosts as
weights. What is found is passage ids with their scores, over 0: best first, ties by id. Queries
are built from terms: no text of a user is ever read as query syntax.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np
import tantivy

from retriever_svc.documents import IntVector
from retriever_svc.embedded.dense.segment_rows import Flags
from retriever_svc.embedded.lexical.lexical_fields import ID_FIELD, boosts
from retriever_svc.embedded.lexical.lexical_settings import LexicalSettings
from retriever_svc.lexical_terms import query_terms

# Fetched beyond what is asked, so that equal scores at the end are ordered by id.
_MARGIN = 8
_WIDENING = 4
# Terms whose clauses are kept, as many as a few hundred different queries hold.
_KNOWN_TERMS = 2_000


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """Holds the weighted terms of an analysed query, in the fields that hold them.

    Good for the searcher that made it.
    """

    clauses: tuple[tuple[Any, Any], ...]
    terms: tuple[str, ...]
    """The term of each clause."""
    by_language: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The terms, each once, as each language analyses the query."""

    def by_term(self) -> dict[str, "LexicalQuery"]:
        """Returns a query for each term that is held, alone."""
        return {
            term: LexicalQuery(
                tuple(
                    clause
                    for clause, other in zip(self.clauses, self.terms, strict=True)
                    if other == term
                ),
                tuple(other for other in self.terms if other == term),
            )
            for term in self.terms
        }


class LexicalSearcher:
    """Finds passages by terms."""

    def __init__(
        self, searcher: Any, schema: Any, languages: tuple[str, ...], settings: LexicalSettings
    ) -> None:
        self._searcher = searcher
        self._schema = schema
        self._boosts = boosts(languages, settings)
        self._known: dict[tuple[str, str], tuple[tuple[Any, Any], ...]] = {}

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    @property
    def segment_count(self) -> int:
        """Segments that every search has to look at."""
        return int(self._searcher.num_segments)

    def analyse(self, text: str) -> LexicalQuery:
        """Returns the query of a text.

        With several languages it is analysed in each; a passage has fields of one, so only the
        analysis that fits counts.
        """
        by_language = {language: tuple(query_terms(text, language)) for language in self._boosts}
        clauses: list[tuple[Any, Any]] = []
        terms: list[str] = []
        for language, analysed in by_language.items():
            for term in analysed:
                found = self._clauses_of(term, language)
                clauses += found
                terms += (term,) * len(found)
        return LexicalQuery(tuple(clauses), tuple(terms), by_language)

    def search(self, query: LexicalQuery, count: int) -> dict[int, float]:
        """Returns the best `count` passages that hold a term."""
        if not query.clauses:
            return {}
        return self._hits(list(query.clauses), count + _MARGIN, count)

    def search_where(
        self, query: LexicalQuery, count: int, accepted: Callable[[IntVector], Flags]
    ) -> dict[int, float]:
        """Returns the best `count` passages whose ids are accepted; looks on until it has them."""
        if not query.clauses:
            return {}
        fetched = count * _WIDENING + _MARGIN
        while True:
            hits = self._hits(list(query.clauses), fetched)
            good = accepted(np.fromiter(hits, np.int64, len(hits))).tolist()
            kept = list(compress(hits.items(), good))
            if len(kept) >= count or len(hits) < fetched:
                return dict(kept[:count])
            fetched *= _WIDENING

    def scores(self, query: LexicalQuery, passage_ids: Collection[int]) -> dict[int, float]:
        """Returns the BM25 score of each of these passages that holds a term."""
        return self._scores(list(query.clauses), passage_ids)

    def term_shares(self, query: LexicalQuery, passage_ids: Collection[int]) -> dict[int, float]:
        """Returns the share, 0 to 1, of the query's different terms that each passage holds.

        Empty for a query without terms. Of several languages the one that fits best counts.
        """
        if not passage_ids or not any(query.by_language.values()):
            return {}
        shares = dict.fromkeys(passage_ids, 0.0)
        for language, terms in query.by_language.items():
            # Every term that is held adds one, in whichever fields it stands.
            clauses = [(tantivy.Occur.Should, self._held(term, language)) for term in terms]
            for passage_id, count in self._scores(clauses, passage_ids).items():
                shares[passage_id] = max(shares[passage_id], round(count) / len(terms))
        return shares

    def _held(self, term: str, language: str) -> Any:
        in_fields = [
            (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, field, term, "basic"))
            for field in self._boosts[language]
        ]
        return tantivy.Query.const_score_query(tantivy.Query.boolean_query(in_fields), 1.0)

    def _scores(
        self, clauses: list[tuple[Any, Any]], passage_ids: Collection[int]
    ) -> dict[int, float]:
        if not clauses or not passage_ids:
            return {}
        among = tantivy.Query.boolean_query(
            [
                (
                    tantivy.Occur.Should,
                    tantivy.Query.term_query(self._schema, ID_FIELD, passage_id, "basic"),
                )
                for passage_id in passage_ids
            ]
        )
        # The ids lead, and the terms are looked up in those few passages only.
        leading = (tantivy.Occur.Must, tantivy.Query.const_score_query(among, 0.0))
        return self._hits([leading, *clauses], len(passage_ids))

    def _clauses_of(self, term: str, language: str) -> tuple[tuple[Any, Any], ...]:
        """Returns a clause for each field that holds the term; most terms stand in bodies alone."""
        known = self._known.get((term, language))
        if known is None:
            known = tuple(
                (tantivy.Occur.Should, self._term_query(field, term, boost))
                for field, boost in self._boosts[language].items()
                if self._searcher.doc_freq(field, term)
            )
            if len(self._known) >= _KNOWN_TERMS:
                self._known.clear()
            self._known[term, language] = known
        return known

    def _term_query(self, field: str, term: str, boost: float) -> Any:
        query = tantivy.Query.term_query(self._schema, field, term, "freq")
        return query if boost == 1 else tantivy.Query.boost_query(query, boost)

    def _hits(
        self, clauses: list[tuple[Any, Any]], limit: int, count: int | None = None
    ) -> dict[int, float]:
        """Returns the first `count`, or all, of the best `limit`."""
        query = tantivy.Query.boolean_query(clauses)
        found = self._searcher.search(query, limit, count=False).hits
        ids = self._searcher.fast_field_values(ID_FIELD, [address for _, address in found])
        hits = [(-score, id_) for id_, (score, _) in zip(ids, found, strict=True) if score > 0]
        # Tantivy has ordered them but for ties, so there is little left to sort.
        hits.sort()
        return {passage_id: -negated for negated, passage_id in hits[:count]}
