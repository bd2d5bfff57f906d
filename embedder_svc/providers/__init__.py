"""Providers of embeddings: one protocol, one file a provider."""
