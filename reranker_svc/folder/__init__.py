"""A cross-encoder in this process, from a folder."""
