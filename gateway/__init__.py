"""The door of the mesh: runs a request through all stages over gRPC and HTTP, and obeys the switches."""
