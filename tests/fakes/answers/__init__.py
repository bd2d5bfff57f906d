"""Answers over fakes: a small base, a chat vendor on a socket, and every door."""
