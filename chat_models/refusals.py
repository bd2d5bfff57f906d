"""What a vendor's error says about trying again.

Decided by status and by words in the body, never by one field: the same vendor sends several
shapes of body, and `code` is now a number, now a text, now null.
"""

from __future__ import annotations

import re

from chassis.vendor_errors import VendorError, VendorLimited, VendorRefused

_NO_QUOTA = re.compile(r"insufficient_quota|billing_hard_limit|credit balance", re.IGNORECASE)
_WHATEVER_IS_ASKED = frozenset({402, 404, 405, 407, 410})


def judged(error: VendorError) -> VendorError:
    """Returns the error as a refusal where trying again would be wrong, and says what it means."""
    if isinstance(error, VendorLimited) and _NO_QUOTA.search(error.excerpt):
        return _refused(error, "has no quota left for this account")
    if error.status == 402:
        return _refused(error, "wants to be paid first")
    if error.status == 404:
        return _refused(error, "knows no such model, or is not at this address")
    return error


def concerns_every_request(error: VendorRefused) -> bool:
    """Whether no request would fare better, so that the vendor is better left alone for a while."""
    status = error.status or 0
    return status in _WHATEVER_IS_ASKED or status == 429 or 300 <= status < 400


def _refused(error: VendorError, what: str) -> VendorRefused:
    return VendorRefused(error.vendor, what, status=error.status, excerpt=error.excerpt)
