"""Certificates are read whole or not at all, and exchanged while they are in use."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes

from chassis.binding import StartError
from chassis.certificates import (
    LOOKED_AT_EVERY_S,
    CertificateError,
    CertificateFiles,
    WatchedCertificates,
    read_certificates,
)
from chassis.mesh_identity import mesh_certificates
from chassis.metrics import Metrics
from chassis.server_settings import ServerSettings
from tests.fakes.certificate_authority import CertificateAuthority
from tests.fakes.clock import FakeClock


@pytest.fixture
def authority(tmp_path: Path) -> CertificateAuthority:
    """An authority with a folder of its own."""
    return CertificateAuthority(tmp_path / "tls")


def test_a_pair_is_read_with_its_authorities(authority: CertificateAuthority) -> None:
    """As PEM, with the moment at which it expires."""
    files = authority.issue("retriever", days=1)

    read = read_certificates(files)

    assert read.chain == files.certificate.read_bytes()
    assert read.key == files.key.read_bytes()
    assert read.authorities == authority.file.read_bytes()
    assert read.expiry.tzinfo is not None


def test_all_mistakes_are_told_at_once(authority: CertificateAuthority, tmp_path: Path) -> None:
    """Each with its file."""
    other = authority.issue("other")
    expired = authority.issue("expired", days=-1)
    text = tmp_path / "text.pem"
    text.write_text("no certificate")

    def mistakes(files: CertificateFiles) -> list[str]:
        with pytest.raises(CertificateError) as refused:
            read_certificates(files)
        return refused.value.mistakes

    expired_and_strange = CertificateFiles("x", expired.certificate, other.key, text)
    assert [
        words in line
        for words, line in zip(
            ("expired at", "is not that of", "text.pem holds no certificate"),
            mistakes(expired_and_strange),
            strict=True,
        )
    ] == [True] * 3
    missing = CertificateFiles("x", tmp_path / "gone.pem", text)
    assert [
        words in line
        for words, line in zip(
            ("gone.pem cannot be read", "text.pem holds no private key"),
            mistakes(missing),
            strict=True,
        )
    ] == [True] * 2


@pytest.mark.parametrize(
    ("key", "served"),
    [
        (rsa.generate_private_key(65537, 1024), False),
        (rsa.generate_private_key(65537, 2048), True),
        (ec.generate_private_key(ec.SECP256R1()), True),
        (ec.generate_private_key(ec.SECP384R1()), True),
        (ec.generate_private_key(ec.SECP521R1()), False),
        (ec.generate_private_key(ec.SECP256K1()), False),
        (ed25519.Ed25519PrivateKey.generate(), False),
    ],
    ids=["rsa1024", "rsa2048", "p256", "p384", "p521", "secp256k1", "ed25519"],
)
def test_keys_that_a_door_cannot_use_are_refused(
    authority: CertificateAuthority, key: CertificateIssuerPrivateKeyTypes, served: bool
) -> None:
    """Otherwise the certificate is taken, and every new connection of that door fails."""
    files = authority.issue("a", key=key)
    if served:
        assert read_certificates(files).chain == files.certificate.read_bytes()
    else:
        with pytest.raises(CertificateError, match=r"a\.pem has a key .* P-256 or P-384"):
            read_certificates(files)


def test_changed_files_are_taken_up(authority: CertificateAuthority) -> None:
    """When they are next looked at; files that did not change are not read again."""
    clock, metrics = FakeClock(), Metrics()
    watched = WatchedCertificates(authority.issue("a"), metrics, clock=clock)
    first = watched.current()
    clock.now += LOOKED_AT_EVERY_S
    assert watched.current() is first

    authority.issue("a", days=2)
    assert watched.current() is first
    clock.now += LOOKED_AT_EVERY_S
    second = watched.current()

    assert second.chain != first.chain
    value = metrics.registry.get_sample_value
    assert value("tls_certificate_expiry_timestamp_seconds", {"use": "a"}) == (
        second.expiry.timestamp()
    )
    assert value("tls_certificate_reloads_total", {"use": "a", "outcome": "taken"}) == 1


@pytest.mark.parametrize("harm", ["half", "expired", "early", "weak", "gone", "garbage"])
def test_a_rotation_that_goes_wrong_keeps_the_last_good_pair(
    authority: CertificateAuthority, harm: str
) -> None:
    """It is told in metrics, tried again at each look, and over when the files are right."""
    clock, metrics = FakeClock(), Metrics()
    files = authority.issue("a")
    watched = WatchedCertificates(files, metrics, clock=clock)
    first = watched.current()
    match harm:
        case "half":
            files.certificate.write_bytes(authority.issue("b").certificate.read_bytes())
        case "expired":
            authority.issue("a", days=-1)
        case "early":
            authority.issue("a", from_days=0.5)
        case "weak":
            authority.issue("a", key=rsa.generate_private_key(65537, 1024))
        case "gone":
            files.key.unlink()
        case _:
            files.certificate.write_bytes(b"")

    for _ in range(2):
        clock.now += LOOKED_AT_EVERY_S
        assert watched.current() is first
    authority.issue("a")
    clock.now += LOOKED_AT_EVERY_S

    assert watched.current() is not first
    value = metrics.registry.get_sample_value
    assert value("tls_certificate_reloads_total", {"use": "a", "outcome": "refused"}) == 2


def test_a_process_begins_with_right_files_or_not_at_all(
    authority: CertificateAuthority, tmp_path: Path
) -> None:
    """Half a configuration is refused too, and none is none."""
    files = authority.issue("a")
    assert mesh_certificates(ServerSettings(), Metrics()) is None

    half = ServerSettings(mesh_certificate_file=files.certificate, mesh_ca_file=authority.file)
    with pytest.raises(StartError, match="not set: MESH_KEY_FILE"):
        mesh_certificates(half, Metrics())
    wrong = half.model_copy(update={"mesh_key_file": tmp_path / "none.key"})
    with pytest.raises(StartError, match=r"mesh cannot be used: .*none\.key cannot be read"):
        mesh_certificates(wrong, Metrics())

    right = half.model_copy(update={"mesh_key_file": files.key})
    assert mesh_certificates(right, Metrics()) is not None
