"""One file a step, forward only."""
