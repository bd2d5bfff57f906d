"""Named sets of choices for a workspace, as data."""
