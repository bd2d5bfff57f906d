"""The certificate by which a process is known to the others of its mesh, if it has one."""

from __future__ import annotations

from chassis.binding import EXIT_CONFIG, StartError
from chassis.certificates import CertificateFiles, WatchedCertificates
from chassis.metrics import Metrics
from chassis.server_settings import ServerSettings


def mesh_certificates(settings: ServerSettings, metrics: Metrics) -> WatchedCertificates | None:
    """Returns the certificates of the settings; None where they name no file.

    Raises StartError where they name only some, or files that are of no use.
    """
    named = {
        "MESH_CERTIFICATE_FILE": settings.mesh_certificate_file,
        "MESH_KEY_FILE": settings.mesh_key_file,
        "MESH_CA_FILE": settings.mesh_ca_file,
    }
    files = [file for file in named.values() if file is not None]
    if not files:
        return None
    if len(files) < len(named):
        missing = ", ".join(name for name, file in named.items() if file is None)
        raise StartError(
            f"calls between services are encrypted with all of {', '.join(named)} or with none; "
            f"not set: {missing}",
            exit_code=EXIT_CONFIG,
        )
    certificate, key, authorities = files
    return WatchedCertificates(CertificateFiles("mesh", certificate, key, authorities), metrics)
