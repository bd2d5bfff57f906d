"""The gRPC servicers: decode, call the engine, encode."""
