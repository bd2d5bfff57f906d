"""The certificate that the gateway shows to its callers, if it has one."""

from __future__ import annotations

from chassis.binding import EXIT_CONFIG, StartError
from chassis.certificates import CertificateFiles, WatchedCertificates
from chassis.metrics import Metrics
from gateway.settings import GatewaySettings


def edge_certificates(settings: GatewaySettings, metrics: Metrics) -> WatchedCertificates | None:
    """Returns the certificate of both doors; None where the settings name none.

    Raises StartError where they name half of it, or files that are of no use.
    """
    certificate, key = settings.tls_certificate_file, settings.tls_key_file
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        missing = "TLS_CERTIFICATE_FILE" if certificate is None else "TLS_KEY_FILE"
        raise StartError(
            f"JUSTESSE_GATEWAY_{missing} is not set: the doors are encrypted with a certificate "
            "and its key, or not at all",
            exit_code=EXIT_CONFIG,
        )
    return WatchedCertificates(CertificateFiles("edge", certificate, key), metrics)
