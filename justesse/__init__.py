"""What a caller of the mesh imports: client, command line and generated contracts."""
