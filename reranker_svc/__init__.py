"""Sorts the candidates of a search by how well they answer the question."""
