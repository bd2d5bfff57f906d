"""Cuts blocks into passages by profiles."""
