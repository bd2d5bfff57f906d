"""The HTTP door: routes, JSON bodies, and what surrounds every request."""
