"""`justesse eval`: how good a mesh is at finding what answers."""
