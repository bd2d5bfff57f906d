"""Files that a run leaves: JSON, CSV and HTML."""
