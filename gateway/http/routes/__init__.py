"""Routes of the HTTP door, one concern a file."""
