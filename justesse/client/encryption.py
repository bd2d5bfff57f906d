"""Whether calls to the gateway are encrypted, and whose certificates are believed."""

import os

import grpc

CA_FILE_VARIABLE = "JUSTESSE_TLS_CA_FILE"
SCHEME = "https://"


def credentials_of(address: str, ca_file: str | None) -> grpc.ChannelCredentials | None:
    """Returns how the channel is encrypted; None where it is not.

    It is where the address begins with https://, or where a file of CAs (PEM) is named, by the
    argument or by JUSTESSE_TLS_CA_FILE; without a file the public CAs are believed. Raises
    ValueError for a file that cannot be read or holds no certificate.
    """
    file = os.environ.get(CA_FILE_VARIABLE, "") if ca_file is None else ca_file
    if not file:
        return grpc.ssl_channel_credentials() if address.startswith(SCHEME) else None
    try:
        with open(file, "rb") as opened:
            authorities = opened.read()
    except OSError as error:
        raise ValueError(f"the file of CAs {file} cannot be read: {error.strerror}") from error
    if b"-----BEGIN CERTIFICATE-----" not in authorities:
        raise ValueError(f"the file of CAs {file} holds no certificate in PEM")
    return grpc.ssl_channel_credentials(authorities)
