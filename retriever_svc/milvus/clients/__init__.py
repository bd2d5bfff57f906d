"""The connection to Milvus."""
