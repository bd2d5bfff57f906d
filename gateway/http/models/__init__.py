"""JSON bodies; their fields are named as in the gateway's contract."""
