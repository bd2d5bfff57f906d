"""One search over Milvus and the store, from request to hits."""
