"""Real processes over sockets."""
