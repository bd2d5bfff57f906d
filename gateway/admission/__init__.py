"""How many calls are worked on at the same time, and whose turn it is."""
