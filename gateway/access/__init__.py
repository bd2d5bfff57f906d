"""Who may do what: keys, grants, and the check before any work."""
