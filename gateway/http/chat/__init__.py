"""Answers in the shape that OpenAI gave to chat, so that its clients can ask."""
