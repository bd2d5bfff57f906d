"""Addresses that are refused before they are dialled, and failures told in plain words."""

import errno
import sys
from pathlib import Path

import pytest

from justesse.cli.program import program_name
from justesse.cli.system_errors import line_of, words_of
from justesse.cli.wording import counted, waiting
from justesse.client import AsyncJustesse, Justesse
from justesse.client.address import checked_address
from justesse.client.connection_failures import cause_of


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1:50050", "gateway:1", "[::1]:65535", "dns:///gateway:50050", "unix:/run/j.sock"],
)
def test_address_that_can_be_dialled_is_kept(address: str) -> None:
    """Hosts, bracketed IPv6 and gRPC's own targets are left as they are."""
    assert checked_address(address) == address


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("host", "names no port"),
        ("[::1]", "names no port"),
        (":50050", "is not HOST:PORT"),
        ("host:0", "not a number from 1 to 65535"),
        ("host:65536", "not a number from 1 to 65535"),
        ("host:port", "not a number from 1 to 65535"),
        ("host:", "not a number from 1 to 65535"),
        ("::1:50050", "a colon too many"),
        ("a b:1", "holds a blank"),
        ("http://host:1", "without http://"),
        ("grpc://host:1", "is not HOST:PORT"),
        ("dns:1x", "not a number"),
    ],
)
def test_address_that_cannot_be_dialled_says_why(address: str, words: str) -> None:
    """Every mistake has its own words, and both clients find it when they are made."""
    with pytest.raises(ValueError, match=words):
        checked_address(address)
    with pytest.raises(ValueError, match=words):
        Justesse(address)
    with pytest.raises(ValueError, match=words):
        AsyncJustesse(address)


@pytest.mark.parametrize(
    ("details", "cause"),
    [
        (
            "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to "
            "connect to remote host: connect: Connection refused (111)",
            "nothing listens there",
        ),
        ("DNS resolution failed for nowhere:1: C-ares status", "the host name is not known"),
        ("tcp handshaker shutdown", "no secure connection came about"),
        ("Socket closed", "the connection broke off"),
        ("something new", ""),
        (None, ""),
    ],
)
def test_cause_of_a_lost_connection(details: str | None, cause: str) -> None:
    """What gRPC says is told in a few words; what is not known is left out."""
    assert cause_of(details) == cause


def test_system_errors_are_told_in_words() -> None:
    """The file and the cause are told, and no number."""
    error = PermissionError(errno.EACCES, "Permission denied", "/x/y")
    assert line_of(error) == "/x/y: permission denied"
    assert words_of(OSError("odd")) == "odd"
    assert words_of(OSError(errno.EPIPE, "Broken pipe")) == "Broken pipe"


def test_counts_and_nouns_agree() -> None:
    """One passage waits, two passages wait."""
    assert [counted(n, "passage") for n in (0, 1, 2)] == ["0 passages", "1 passage", "2 passages"]
    assert waiting(1) == "1 passage waits to be embedded"
    assert waiting(2) == "2 passages wait to be embedded"


@pytest.mark.parametrize(
    ("started", "name"),
    [
        (".venv/bin/justesse", ".venv/bin/justesse"),
        ("tools/justesse", "justesse"),
        ("/elsewhere/pytest", "justesse"),
    ],
)
def test_commands_are_named_as_they_were_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: str, name: str
) -> None:
    """A program that is not on the path is named by its own path, ready to be typed."""
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "tools" / "justesse"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr(sys, "argv", [str(tmp_path / started)])
    assert program_name() == name
