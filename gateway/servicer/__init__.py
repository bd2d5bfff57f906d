"""The gateway's contract over gRPC: decode, call, encode."""
