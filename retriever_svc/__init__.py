"""Stores passages and finds them: SQLite store, dense and BM25 indexes, rank fusion."""
