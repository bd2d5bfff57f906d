"""Turns texts into vectors, with the first available provider of a chain, never mixing spaces."""
