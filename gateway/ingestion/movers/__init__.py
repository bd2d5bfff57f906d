"""Work in the background that brings passages to the space they belong in."""
