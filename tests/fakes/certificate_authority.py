"""A certificate authority of the tests' own."""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from chassis.certificates import CertificateFiles


class CertificateAuthority:
    """Signs certificates for a name at 127.0.0.1, and keeps them in files of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._certificate = _certificate("authority", self._key, None, self._key, days=1)
        self.file = folder / "ca.pem"
        folder.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(self._certificate.public_bytes(Encoding.PEM))

    def files(self, name: str, *, mutual: bool = True) -> CertificateFiles:
        """Returns where the pair of a name stands; `mutual` names this authority too."""
        certificate, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        return CertificateFiles(name, certificate, key, self.file if mutual else None)

    def issue(
        self,
        name: str,
        *,
        days: float = 1.0,
        from_days: float = -2.0,
        mutual: bool = True,
        key: CertificateIssuerPrivateKeyTypes | None = None,
    ) -> CertificateFiles:
        """Writes a new pair for a name over the one there was; the key is one of P-256 if none."""
        files = self.files(name, mutual=mutual)
        key = key or ec.generate_private_key(ec.SECP256R1())
        certificate = _certificate(
            name, key, self._certificate, self._key, days=days, from_days=from_days
        )
        files.certificate.write_bytes(certificate.public_bytes(Encoding.PEM))
        files.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return files


def _certificate(
    name: str,
    key: CertificateIssuerPrivateKeyTypes,
    issuer: x509.Certificate | None,
    issuer_key: ec.EllipticCurvePrivateKey,
    *,
    days: float,
    from_days: float = -2.0,
) -> x509.Certificate:
    now = datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    addresses = [x509.DNSName(name), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + timedelta(days=from_days))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
    )
    if issuer is not None:
        builder = builder.add_extension(x509.SubjectAlternativeName(addresses), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())
