"""Measures on labelled sets, run by hand: `python -m tests.quality --data $DATA`."""
