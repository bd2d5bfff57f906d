"""Stand-ins with real behaviour, shared by tests."""
