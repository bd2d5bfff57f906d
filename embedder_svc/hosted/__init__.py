"""Embedding over HTTP, whoever the vendor is: slices, merged requests, limits, distrust."""
