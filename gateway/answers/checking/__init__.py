"""What an answer says is held against the sources that it was given."""
