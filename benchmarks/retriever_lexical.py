"""The lexical leg against bare tantivy, SQLite FTS5 and exact BM25.

All hold the same texts in one field of words split at blanks and find the best 20 of a query's
five words by BM25. Ours analyses the query, asks three fields (title, keywords, body) and orders
ties by passage; tantivy and FTS5 get the finished words for their one field. Both tantivy indexes
are merged by tantivy's own policy after commits of 640 passages. The bare index writes its numbers
to a fast field, as ours does. Every round has questions of its own: what ours keeps of a term is
kept from one question to another that happens to hold it. "one byte" is exact BM25 but for lengths
that have one byte, as tantivy's have: what it loses, tantivy loses.
"""

import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import tantivy

from benchmarks.exact_search import ExactSearch, agreement
from benchmarks.interleaving import (
    Figures,
    Round,
    Timing,
    interleaved,
    speed_ratios,
    timed_round,
)
from benchmarks.peers.peer import BATCH
from benchmarks.search_corpus import Question, SearchCorpus, questions, search_corpus
from retriever_svc.embedded.lexical.lexical_index import LexicalIndex
from retriever_svc.embedded.lexical.lexical_searcher import LexicalSearcher
from retriever_svc.embedded.lexical.lexical_settings import LexicalSettings
from retriever_svc.store.rows import LexicalEntry
from retriever_svc.workspaces import WorkspaceLanguage

_COUNT, _QUERIES, _SLOW_QUERIES, _JUDGED = 20, 100, 20, 500


def measure(quick: bool) -> Figures:
    """Returns ratios of queries a second, and agreement."""
    count = 5_000 if quick else 100_000
    rounds = 4 if quick else 25
    corpus, asked = search_corpus(count), questions(count, _QUERIES * (rounds + 1))
    judged = asked[:_JUDGED]
    with tempfile.TemporaryDirectory() as folder:
        ours = _ours(corpus, Path(folder) / "ours")
        bare, schema = _tantivy(corpus, Path(folder) / "bare")
        fts5 = _fts5(corpus, Path(folder) / "fts5.sqlite3")
        systems = {
            "ours": _round(partial(_search, ours), asked),
            "tantivy": _round(partial(_bare_search, bare, schema), asked),
            "FTS5": _round(partial(_fts5_search, fts5), asked, _SLOW_QUERIES),
        }
        timings = interleaved(systems, rounds)
        figures = _figures(timings)
        fts5.close()
        found = {
            "agreement with exact BM25": [_search(ours, question) for question in judged],
            "tantivy: agreement with exact BM25": [
                _bare_search(bare, schema, question) for question in judged
            ],
        }
    truth = _exact(corpus, judged)
    coarse = _exact(corpus, judged, byte_lengths=True)
    figures |= {name: agreement(ids, truth) for name, ids in found.items()}
    figures["one byte: agreement with exact BM25"] = agreement(coarse, truth)
    figures["agreement with one byte"] = agreement(found["agreement with exact BM25"], coarse)
    return figures


def _exact(
    corpus: SearchCorpus, asked: Sequence[Question], *, byte_lengths: bool = False
) -> list[list[int]]:
    exact = ExactSearch(corpus, byte_lengths=byte_lengths)
    return [exact.bm25(question, _COUNT) for question in asked]


def _figures(timings: dict[str, Timing]) -> Figures:
    ours = timings["ours"]
    return {
        **{f"{name}: p50, ms": one.median_ms for name, one in timings.items()},
        **speed_ratios("queries/s / tantivy", ours, timings["tantivy"]),
        **speed_ratios("queries/s / FTS5", ours, timings["FTS5"]),
    }


def _ours(corpus: SearchCorpus, path: Path) -> LexicalSearcher:
    index = _opened(path)
    for seq, first in enumerate(range(0, len(corpus.texts), BATCH), start=1):
        texts = corpus.texts[first : first + BATCH]
        index.apply(
            [], [LexicalEntry(first + at, "fr", "", (), (), text) for at, text in enumerate(texts)]
        )
        index.commit(seq)
    index.rest()
    # With the segments that the merges have left.
    return _opened(path).searcher()


def _opened(path: Path) -> LexicalIndex:
    return LexicalIndex(
        path,
        store_identity="bench",
        workspace_id=1,
        language=WorkspaceLanguage.FRENCH,
        settings=LexicalSettings(),
    )


def _tantivy(corpus: SearchCorpus, path: Path) -> tuple[Any, Any]:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("id", stored=False, indexed=True, fast=True)
    builder.add_text_field("body", stored=False, tokenizer_name="words", index_option="freq")
    schema = builder.build()
    path.mkdir()
    index = tantivy.Index(schema, path=str(path))
    words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer("words", words)
    writer = index.writer(heap_size=LexicalSettings().writer_heap_bytes, num_threads=1)
    for first in range(0, len(corpus.texts), BATCH):
        for number, text in enumerate(corpus.texts[first : first + BATCH], start=first):
            document = tantivy.Document()
            document.add_integer("id", number)
            document.add_text("body", text)
            writer.add_document(document)
        writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index.searcher(), schema


def _fts5(corpus: SearchCorpus, path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("CREATE VIRTUAL TABLE passages USING fts5(body, content='')")
    connection.executemany(
        "INSERT INTO passages (rowid, body) VALUES (?, ?)", enumerate(corpus.texts)
    )
    connection.execute("INSERT INTO passages (passages) VALUES ('optimize')")
    connection.commit()
    return connection


def _search(searcher: LexicalSearcher, question: Question) -> list[int]:
    query = searcher.analyse(question.text)
    return list(searcher.search(query, _COUNT))


def _bare_search(searcher: Any, schema: Any, question: Question) -> list[int]:
    clauses = [
        (tantivy.Occur.Should, tantivy.Query.term_query(schema, "body", word, "freq"))
        for word in question.words
    ]
    hits = searcher.search(tantivy.Query.boolean_query(clauses), _COUNT, count=False).hits
    ids: list[int] = searcher.fast_field_values("id", [address for _, address in hits])
    return ids


def _fts5_search(connection: sqlite3.Connection, question: Question) -> list[int]:
    rows = connection.execute(
        "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?",
        (" OR ".join(question.words), _COUNT),
    )
    return [row[0] for row in rows]


def _round(
    search: Callable[[Question], object], asked: Sequence[Question], size: int = _QUERIES
) -> Callable[[], Round]:
    """Returns what runs the first `size` questions of the next round."""
    firsts = iter(range(0, len(asked), _QUERIES))

    def run() -> Round:
        first = next(firsts)
        return timed_round([partial(search, one) for one in asked[first : first + size]])

    return run
