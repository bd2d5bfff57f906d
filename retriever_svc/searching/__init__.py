"""What searches of every engine do the same way: which candidates become hits, and why."""
