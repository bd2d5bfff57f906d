"""Schema migrations of the store, forward only."""
