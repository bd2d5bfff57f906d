"""The embedded engine: SQLite is the truth; dense and BM25 indexes are derived from it."""
