"""The door of the mesh: runs a request through all stages, and obeys the switches."""
