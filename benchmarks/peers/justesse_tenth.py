"""The retriever's engine with a tenth of the passages."""

from benchmarks.peers.justesse import opened

__all__ = ["opened"]
