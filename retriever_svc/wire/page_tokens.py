"""Page tokens: opaque to callers, the id of the last document or passage of a page inside."""

import base64
import binascii

from chassis.errors import InvalidArgument

_PREFIX = b"after:"


def token_from(after: str | None) -> str:
    """Returns the token of the page that follows this external id; empty for no page."""
    if after is None:
        return ""
    return base64.urlsafe_b64encode(_PREFIX + after.encode()).decode()


def after_from(token: str, field: str) -> str | None:
    """Returns the external id in a token, None for the first page. Raises InvalidArgument."""
    if not token:
        return None
    try:
        decoded = base64.b64decode(token, altchars=b"-_", validate=True)
        if decoded.startswith(_PREFIX):
            return decoded.removeprefix(_PREFIX).decode()
    except (binascii.Error, ValueError):
        pass
    raise InvalidArgument(
        f"{field} was not given by this service; start again without one", field=field
    )
