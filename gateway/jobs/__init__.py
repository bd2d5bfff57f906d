"""Durable jobs: work that is taken on once and ends, whatever process dies meanwhile."""
