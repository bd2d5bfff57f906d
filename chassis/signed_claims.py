"""Short-lived statements between services: "the holder may do ACTION to SUBJECT until EXPIRY".

A claim is text, signed by HMAC-SHA-256 (RFC 2104) with a secret that both sides read from a file,
one a line. The first one signs, all are accepted: a secret is changed by adding the new one last
everywhere, moving it to the front, then taking the old one away. The file is looked at again every
few seconds.

A claim may be used by whoever holds it, as often as he likes, until it expires; the connection it
travels over is what keeps it from others.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import structlog

from chassis.binding import EXIT_CONFIG, StartError
from chassis.clock import Clock, monotonic
from chassis.errors import PermissionDenied

METADATA_KEY = "x-claim"
CLAIM_REFUSED = "CLAIM_REFUSED"
"""Reason of PERMISSION_DENIED where a claim is missing or does not fit."""

LIFETIME_S = 60
CLOCK_SKEW_S = 30
"""Seconds by which the clocks of two machines may differ."""

MIN_SECRET_LENGTH = 32
_LOOK_AGAIN_S = 5.0
_MOST_KEPT = 4096
_LONGEST = 1024

Key = TypeVar("Key")
Value = TypeVar("Value")

_log = structlog.get_logger("chassis.signed_claims")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a claim says; `expiry` is in seconds since 1970 UTC."""

    subject: str
    action: str
    expiry: int


class SignedClaims:
    """Signs claims and reads them; each is computed once and kept while it lasts."""

    def __init__(
        self, file: Path, *, now: Callable[[], float] = time.time, clock: Clock = monotonic
    ) -> None:
        """Reads the secrets. Raises StartError where there are none; the text shows none."""
        self._file = file
        self._now = now
        self._clock = clock
        try:
            self._secrets = _secrets_in(file)
        except ValueError as error:
            raise StartError(f"claim secrets: {error}", exit_code=EXIT_CONFIG) from error
        self._looked_at = clock()
        self._signed: dict[tuple[str, str], tuple[str, int]] = {}
        self._read: dict[str, Claim] = {}

    def sign(self, subject: str, action: str) -> str:
        """Returns a claim that lasts for half of its lifetime at least."""
        self._look_again()
        now = int(self._now())
        text, expiry = self._signed.get((subject, action), ("", 0))
        if not now + LIFETIME_S // 2 <= expiry <= now + LIFETIME_S:
            expiry = now + LIFETIME_S
            text = _signed_text(Claim(subject, action, expiry), self._secrets[0])
            _keep(self._signed, (subject, action), (text, expiry))
        return text

    def read(self, text: str) -> Claim:
        """Returns what a claim says; PermissionDenied unless it is signed and not expired."""
        self._look_again()
        claim = self._read.get(text)
        if claim is None:
            claim = self._verified(text)
            _keep(self._read, text, claim)
        now = self._now()
        if not now - CLOCK_SKEW_S <= claim.expiry <= now + LIFETIME_S + CLOCK_SKEW_S:
            raise claim_refused("has expired, or the clocks of the two services differ")
        return claim

    def _verified(self, text: str) -> Claim:
        claim = _claim_in(text) if len(text) <= _LONGEST and text.isascii() else None
        if claim is not None:
            for secret in self._secrets:
                if hmac.compare_digest(text, _signed_text(claim, secret)):
                    return claim
        raise claim_refused("is not signed with a secret that this service has")

    def _look_again(self) -> None:
        if self._clock() - self._looked_at < _LOOK_AGAIN_S:
            return
        self._looked_at = self._clock()
        try:
            secrets = _secrets_in(self._file)
        except ValueError as error:
            _log.error("claim secrets not read; the last good ones stay", why=str(error))
            return
        if secrets != self._secrets:
            self._secrets = secrets
            self._signed.clear()
            self._read.clear()


def claim_refused(why: str) -> PermissionDenied:
    """Returns the error for a call whose claim is none, or does not fit; `why` follows "claim"."""
    return PermissionDenied(f"the claim of this call {why}", reason=CLAIM_REFUSED)


def _secrets_in(file: Path) -> tuple[bytes, ...]:
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError as error:
        raise ValueError(f"{file} cannot be read ({error.strerror})") from error
    secrets = tuple(line.strip() for line in lines if line.strip())
    if not secrets or any(len(secret) < MIN_SECRET_LENGTH for secret in secrets):
        raise ValueError(
            f"{file} must hold secrets of {MIN_SECRET_LENGTH} characters and more, one a line; "
            "'openssl rand -hex 32' makes one"
        )
    return secrets


def _signed_text(claim: Claim, secret: bytes) -> str:
    said = f"1.{claim.expiry}.{claim.action}.{_encoded(claim.subject.encode())}"
    signature = hmac.digest(secret, b"claim:" + said.encode(), hashlib.sha256)
    return f"{said}.{_encoded(signature)}"


def _claim_in(text: str) -> Claim | None:
    match text.split("."):
        case ["1", expiry, action, subject, _] if expiry.isdigit() and len(expiry) <= 12:
            try:
                padded = subject + "=" * (-len(subject) % 4)
                decoded = base64.b64decode(padded, altchars=b"-_", validate=True).decode()
            except (binascii.Error, UnicodeDecodeError):
                return None
            return Claim(decoded, action, int(expiry))
        case _:
            return None


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _keep(kept: dict[Key, Value], key: Key, value: Value) -> None:
    if len(kept) >= _MOST_KEPT:
        kept.clear()
    kept[key] = value
