"""Snapshots of sealed dense segments: copies on disk that spare the building of graphs.

A snapshot is a cache. The store is the truth: which rows of a snapshot are live is decided by
comparing them with the store's vectors, and a snapshot that is not beyond doubt is deleted.
"""
