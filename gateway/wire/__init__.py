"""Messages to and from domain objects, with validation that names the field."""
