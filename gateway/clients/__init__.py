"""The ports over gRPC, one service a file."""
