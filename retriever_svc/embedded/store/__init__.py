"""The SQLite store: the truth from which every index is derived."""
