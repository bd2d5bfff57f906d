"""What a vendor's error says about the request that caused it.

Decided by status and by words in the body, never by one field: the same vendor sends several
shapes of body, and `code` is now a number, now a text, now null.
"""

import re
from enum import Enum

from chassis.vendor_errors import VendorError, VendorGarbled, VendorRefused, VendorUnusable


class Refusal(Enum):
    """What is wrong with a request, so that the same again will not help."""

    TEXT = "one of its texts"
    TOO_MANY_TEXTS = "the number of its texts"
    TOO_MANY_TOKENS = "the number of its tokens"
    TOO_LARGE = "its size"
    PERMANENT = "everything"


SIZES = frozenset({Refusal.TOO_MANY_TEXTS, Refusal.TOO_MANY_TOKENS, Refusal.TOO_LARGE})

_TOO_MANY_TOKENS = re.compile(
    r"too many tokens|tokens? (count|limit)|maximum .{0,40}tokens|max .{0,20}tokens"
    r"|(context|input|sequence|token) length|must have less than \d+ tokens|exceeds? .{0,40}tokens"
    r"|maximum context|too long",
    re.IGNORECASE,
)
_TOO_MANY_TEXTS = re.compile(
    r"too many (inputs|texts|items)|batch[ _]size|at most \d+ (items|inputs|elements|texts)"
    r"|list length|array too long|too_long",
    re.IGNORECASE,
)
_MISTRAL_TOO_LARGE = re.compile(r'"code"\s*:\s*"?3210\b')
_NOT_FINITE = re.compile(r"\bNaN\b|\bInf\b|unsupported value", re.IGNORECASE)
# llama.cpp, where a text has more tokens than its physical batch.
_TOO_LARGE_TO_PROCESS = re.compile(r"too large to process", re.IGNORECASE)
_NO_QUOTA = re.compile(r"insufficient_quota")
_PERMANENT = frozenset({402, 404, 405, 407, 410})
_ABOUT_CONTENT = frozenset({400, 413, 422})


def refusal_of(error: VendorError) -> Refusal | None:
    """Returns what is wrong with the request, or None where it is the vendor's trouble."""
    if isinstance(error, VendorGarbled):
        return None if error.retryable else Refusal.TEXT
    status = error.status
    if status is None or isinstance(error, VendorUnusable):
        return None
    if status == 429:
        return Refusal.PERMANENT if _NO_QUOTA.search(error.excerpt) else None
    if status in (401, 403) or status in _PERMANENT or 300 <= status < 400:
        return Refusal.PERMANENT
    if status in _ABOUT_CONTENT:
        return _about_content(status, error.excerpt)
    if status == 500 and _TOO_LARGE_TO_PROCESS.search(error.excerpt):
        return Refusal.TOO_MANY_TOKENS
    if status == 424 or (status == 500 and _NOT_FINITE.search(error.excerpt)):
        return Refusal.TEXT
    return None


def _about_content(status: int, body: str) -> Refusal:
    if _TOO_MANY_TEXTS.search(body):
        return Refusal.TOO_MANY_TEXTS
    if _TOO_MANY_TOKENS.search(body):
        return Refusal.TOO_MANY_TOKENS
    if status != 400 or _MISTRAL_TOO_LARGE.search(body):
        return Refusal.TOO_LARGE
    return Refusal.TEXT


def judged(error: VendorError) -> VendorError:
    """Returns the error as a refusal where trying again or opening a breaker would be wrong."""
    if refusal_of(error) is None or isinstance(error, (VendorRefused, VendorGarbled)):
        return error
    what = "refused the request" if error.status != 429 else "has no quota left for this account"
    return VendorRefused(error.vendor, what, status=error.status, excerpt=error.excerpt)
