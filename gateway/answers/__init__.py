"""Answers from found passages: written by a chat model or quoted, checked, or refused."""
