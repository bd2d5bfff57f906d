"""The search itself, run on the search thread over published views."""
