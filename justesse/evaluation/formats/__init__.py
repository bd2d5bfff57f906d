"""Files that labelled questions come in."""
