"""Credentials of servers, with whatever certificate is in use when a connection is made."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path

import grpc

from chassis.certificates import Certificates, WatchedCertificates


def grpc_credentials(certificates: WatchedCertificates) -> grpc.ServerCredentials:
    """Returns credentials of a gRPC server.

    Where the files name CAs, callers must show a certificate of one of them.
    """
    made: tuple[Certificates, grpc.ServerCertificateConfiguration] | None = None

    def configuration() -> grpc.ServerCertificateConfiguration:
        # Called by gRPC for each connection, from a thread of its own.
        nonlocal made
        current = certificates.current()
        if made is None or made[0] is not current:
            made = current, _configuration(current)
        return made[1]

    return grpc.dynamic_ssl_server_credentials(
        configuration(),
        configuration,
        require_client_authentication=certificates.current().authorities is not None,
    )


def http_context(certificates: WatchedCertificates) -> ssl.SSLContext:
    """Returns the context of an HTTPS server."""
    made = certificates.current()
    context = _context(made)

    def exchanged(
        connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _context_of: ssl.SSLContext
    ) -> None:
        # Called when a connection begins, with or without a name of a server.
        nonlocal made, context
        current = certificates.current()
        if current is not made:
            made, context = current, _context(current)
        connection.context = context

    first = context
    first.sni_callback = exchanged
    return first


def _configuration(current: Certificates) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration(
        [(current.key, current.chain)], current.authorities
    )


def _context(current: Certificates) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # The module reads files only; what was checked together is what is loaded together.
    with tempfile.TemporaryDirectory() as folder:
        pair = Path(folder) / "pair.pem"
        pair.touch(mode=0o600)
        pair.write_bytes(current.key + b"\n" + current.chain)
        context.load_cert_chain(pair)
    return context
