"""A whole mesh on this machine: six processes, started, watched and stopped together."""
