"""Why a file is not taken in, in words its owner understands."""

from __future__ import annotations

from enum import StrEnum


class RefusalReason(StrEnum):
    """Stable words for programs."""

    UNSUPPORTED_TYPE = "UNSUPPORTED_TYPE"
    TYPE_MISMATCH = "TYPE_MISMATCH"
    UNREADABLE_FILE = "UNREADABLE_FILE"
    PASSWORD_PROTECTED = "PASSWORD_PROTECTED"
    NO_TEXT = "NO_TEXT"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    OCR_UNAVAILABLE = "OCR_UNAVAILABLE"


class FileRefused(Exception):  # noqa: N818 - a refusal is an answer, not a fault
    """A file that is not taken in; the message is a sentence without the file's name."""

    def __init__(self, reason: RefusalReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def unreadable(message: str) -> FileRefused:
    """Refuses a damaged file."""
    return FileRefused(RefusalReason.UNREADABLE_FILE, message)


def over_limit(message: str) -> FileRefused:
    """Refuses a file that is larger than a limit allows."""
    return FileRefused(RefusalReason.LIMIT_EXCEEDED, message)


def password_protected(message: str) -> FileRefused:
    """Refuses a file that needs a password."""
    return FileRefused(RefusalReason.PASSWORD_PROTECTED, message)


def ocr_unavailable(message: str) -> FileRefused:
    """Refuses an image where no program reads images."""
    return FileRefused(RefusalReason.OCR_UNAVAILABLE, message)
