"""Messages of the contracts to domain objects and back; wrong fields are named here."""
