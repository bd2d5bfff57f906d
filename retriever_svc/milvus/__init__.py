"""The engine past one machine: PostgreSQL keeps everything, Milvus finds it."""
