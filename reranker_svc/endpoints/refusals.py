"""What an endpoint's error really is, where its status alone does not tell."""

import re

from chassis.vendor_errors import VendorError, VendorRefused

# llama.cpp, where a pair has more tokens than its physical batch.
_TOO_LARGE_TO_PROCESS = re.compile(r"too large to process", re.IGNORECASE)
# TEI and infinity say which text's score is none; the same again gives the same.
_NOT_FINITE = re.compile(r"\bNaN\b", re.IGNORECASE)
_NO_QUOTA = re.compile(r"insufficient_quota")


def judged(error: VendorError) -> VendorError:
    """Returns the error as a refusal where trying again or opening a breaker would be wrong."""
    if error.status == 500 and _TOO_LARGE_TO_PROCESS.search(error.excerpt):
        return _refusal(error, 413, "refused a text that is too long for it")
    if error.status in (424, 500) and _NOT_FINITE.search(error.excerpt):
        return _refusal(error, 424, "made a score that is no number")
    if error.status == 429 and _NO_QUOTA.search(error.excerpt):
        return _refusal(error, 429, "has no quota left for this account")
    return error


def _refusal(error: VendorError, status: int, what: str) -> VendorRefused:
    return VendorRefused(error.vendor, what, status=status, excerpt=error.excerpt)
