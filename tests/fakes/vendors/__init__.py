"""Servers that speak the wire formats of embedding vendors, quirks included."""
