"""The ways to rerank, by the names that settings and callers use."""

from enum import Enum


class Implementation(Enum):
    """Who sorts the candidates."""

    CHAT = "chat"
    ENDPOINT = "endpoint"
    FOLDER = "folder"
    FORMULA = "formula"
