"""The BM25 index: one tantivy folder a workspace."""
