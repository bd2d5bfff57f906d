"""Tests of the mesh, by what they start and break."""
