"""The store of the engine: PostgreSQL through SQLAlchemy."""
