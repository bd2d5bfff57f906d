"""Services behind the gateway, in memory: they answer, fail or hang as the test says."""
