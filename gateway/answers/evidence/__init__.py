"""Whether what was found is enough to answer from, before anybody is asked to write."""
