"""Certificates in files: read together, checked, and read again when they change.

A pair that is replaced file by file is wrong for a moment, and a rotation can go wrong for good:
what was read last and was right stays in use until the files are right again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import structlog
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)

from chassis import clock as clocks
from chassis.binding import EXIT_CONFIG, StartError
from chassis.certificate_metrics import certificate_metrics_of
from chassis.clock import Clock
from chassis.metrics import Metrics

LOOKED_AT_EVERY_S = 5.0
LEAST_RSA_BITS = 2048
SERVED_CURVES = (ec.SECP256R1, ec.SECP384R1)
"""Keys that both gRPC and the HTTP door make connections with; one of them drops all others."""

_log = structlog.get_logger("chassis.certificates")


class CertificateError(Exception):
    """Files do not hold what is needed; `mistakes` has one line for each."""

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__("; ".join(mistakes))
        self.mistakes = mistakes


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """PEM files: the chain of a certificate, leaf first, its key, and the CAs of the other side.

    `use` names them in logs and metrics.
    """

    use: str
    certificate: Path
    key: Path
    authorities: Path | None = None


@dataclass(frozen=True, slots=True)
class Certificates:
    """What the files held, as PEM; `expiry` is the moment from which the leaf is not valid."""

    chain: bytes
    key: bytes
    authorities: bytes | None
    expiry: datetime


def read_certificates(files: CertificateFiles) -> Certificates:
    """Reads and checks the files; raises CertificateError with all mistakes."""
    mistakes: list[str] = []
    chain, key = (_content(path, mistakes) for path in (files.certificate, files.key))
    leaf = None if chain is None else _leaf(files.certificate, chain, mistakes)
    own = None if key is None else _public_part(files.key, key, mistakes)
    if leaf is not None and own is not None and own != _written(leaf.public_key()):
        mistakes.append(f"the key in {files.key} is not that of {files.certificate}")
    authorities = None
    if files.authorities is not None:
        authorities = _content(files.authorities, mistakes)
        if authorities is not None:
            _first(files.authorities, authorities, mistakes)
    if mistakes or chain is None or key is None or leaf is None:
        raise CertificateError(mistakes)
    return Certificates(chain, key, authorities, leaf.not_valid_after_utc)


class WatchedCertificates:
    """The certificates of some files, looked at again whenever they are asked for.

    At most every 5 s, so that asking costs next to nothing. Safe to ask from any thread: gRPC does
    so from its own.
    """

    def __init__(
        self, files: CertificateFiles, metrics: Metrics, *, clock: Clock = clocks.monotonic
    ) -> None:
        """Reads the files. Raises StartError with all mistakes where they are of no use."""
        self._seen = _contents(files)
        try:
            self._current = read_certificates(files)
        except CertificateError as error:
            raise StartError(
                f"the certificates of {files.use} cannot be used: {error}", exit_code=EXIT_CONFIG
            ) from error
        self._files = files
        self._clock = clock
        self._lock = threading.Lock()
        self._looked_at = clock()
        shown = certificate_metrics_of(metrics)
        self._reloads = shown.reloads
        shown.expiry.labels(files.use).set_function(lambda: self.current().expiry.timestamp())

    def current(self) -> Certificates:
        """Returns what is in use; the same object until the files hold something else."""
        if self._clock() - self._looked_at < LOOKED_AT_EVERY_S:
            return self._current
        with self._lock:
            # Another thread may have looked while this one waited.
            if self._clock() - self._looked_at >= LOOKED_AT_EVERY_S:
                seen = _contents(self._files)
                if seen != self._seen:
                    self._read(seen)
                self._looked_at = self._clock()
            return self._current

    def _read(self, seen: tuple[bytes | None, ...]) -> None:
        use = self._files.use
        try:
            self._current = read_certificates(self._files)
        except CertificateError as error:
            # Looked at again the next time, as the other file of a pair may be on its way.
            self._reloads.labels(use, "refused").inc()
            _log.error(
                "certificates not exchanged; the last good ones stay", use=use, why=str(error)
            )
            return
        self._seen = seen
        self._reloads.labels(use, "taken").inc()
        _log.info("certificates exchanged", use=use, expiry=self._current.expiry.isoformat())


def _paths(files: CertificateFiles) -> Iterator[Path]:
    yield files.certificate
    yield files.key
    if files.authorities is not None:
        yield files.authorities


def _content(path: Path, mistakes: list[str]) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError as error:
        mistakes.append(f"{path} cannot be read ({error.strerror})")
        return None


def _first(path: Path, content: bytes, mistakes: list[str]) -> x509.Certificate | None:
    try:
        return x509.load_pem_x509_certificates(content)[0]
    except ValueError as error:
        mistakes.append(f"{path} holds no certificate in PEM ({error})")
        return None


def _leaf(path: Path, content: bytes, mistakes: list[str]) -> x509.Certificate | None:
    leaf = _first(path, content, mistakes)
    if leaf is None:
        return None
    now = datetime.now(UTC)
    if leaf.not_valid_after_utc <= now:
        mistakes.append(f"the certificate in {path} expired at {leaf.not_valid_after_utc}")
    if leaf.not_valid_before_utc > now:
        mistakes.append(f"the certificate in {path} is valid from {leaf.not_valid_before_utc} only")
    if not _is_served(leaf.public_key()):
        mistakes.append(
            f"the certificate in {path} has a key that not every connection can use; make one of "
            f"RSA with {LEAST_RSA_BITS} bits or more, P-256 or P-384"
        )
    return leaf


def _is_served(key: Any) -> bool:
    if isinstance(key, rsa.RSAPublicKey):
        return key.key_size >= LEAST_RSA_BITS
    return isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, SERVED_CURVES)


def _public_part(path: Path, content: bytes, mistakes: list[str]) -> bytes | None:
    try:
        return _written(load_pem_private_key(content, None).public_key())
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        mistakes.append(f"{path} holds no private key in PEM, without a password ({error})")
        return None


def _written(key: Any) -> bytes:
    written: bytes = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return written


def _contents(files: CertificateFiles) -> tuple[bytes | None, ...]:
    """Returns what the files hold; None for one that cannot be read.

    Their times would not do: two writes within a tick of the kernel's clock look alike.
    """
    mistakes: list[str] = []
    return tuple(_content(path, mistakes) for path in _paths(files))
