"""The migrations, one a schema version."""
