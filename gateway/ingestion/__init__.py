"""The ingestion role: takes documents in, cuts them into passages, has them embedded and stored."""
