"""The gateway's own database: connections, transactions and the schema of our tables."""
