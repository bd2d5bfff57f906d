"""Measures a mesh on labelled questions: `justesse eval`."""
