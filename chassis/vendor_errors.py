"""What can go wrong with a vendor's HTTP API.

The text names vendor and status only, since it may reach our own callers. What the vendor wrote
is in `excerpt`, shortened and without our secrets, for logs and for code that looks closer.
"""

# ruff: noqa: N818 - named after what the vendor did

from __future__ import annotations

from chassis.errors import Unavailable


class VendorError(Unavailable):
    """A call to a vendor gave no usable answer."""

    default_reason = "VENDOR_FAILED"

    def __init__(
        self,
        vendor: str,
        what: str,
        *,
        status: int | None = None,
        excerpt: str = "",
        retry_after_s: float | None = None,
        retryable: bool = False,
    ) -> None:
        shown = f" (HTTP {status})" if status is not None else ""
        super().__init__(f"{vendor} {what}{shown}", retry_after_s=retry_after_s)
        self.vendor = vendor
        self.status = status
        self.excerpt = excerpt
        self.retryable = retryable


class VendorTimeout(VendorError):
    """No complete answer in time."""

    default_reason = "VENDOR_TIMEOUT"


class VendorUnavailable(VendorError):
    """Not reachable, or it says itself that it cannot answer now (408, 409, 5xx)."""

    default_reason = "VENDOR_UNAVAILABLE"


class VendorLimited(VendorError):
    """Too many requests or tokens for the account (429)."""

    default_reason = "VENDOR_LIMITED"


class VendorRefused(VendorError):
    """The request itself is not accepted (other 4xx, redirects): the same again will not help."""

    default_reason = "VENDOR_REFUSED"


class VendorUnauthorized(VendorRefused):
    """The key is not accepted (401, 403)."""

    default_reason = "VENDOR_UNAUTHORIZED"


class VendorGarbled(VendorError):
    """An answer came, but not one that can be read: no JSON, a bad encoding, NaN, too large."""

    default_reason = "VENDOR_GARBLED"


class VendorUnusable(VendorError):
    """An answer that can be read but does not fit the request: an outage under a good status."""

    default_reason = "VENDOR_UNUSABLE"
