"""Taking many files in: which ones, with what facts, and what became of each."""
