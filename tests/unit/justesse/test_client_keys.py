"""API keys from the command line and both clients, against a gateway in memory."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from chassis.errors import Unauthenticated
from gateway.access.api_key import api_key_from
from justesse.client import Action, AsyncJustesse, Grant, Justesse, filters
from tests.fakes.command_line import CommandLine
from tests.fakes.fake_gateway import GatewayState, fake_gateway

KEY_VARIABLES = ("JUSTESSE_API_KEY", "JUSTESSE_API_KEY_FILE")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of whoever runs the tests does not count, nor what a test leaves in it."""
    for variable in KEY_VARIABLES:
        monkeypatch.setenv(variable, "")


def test_a_key_is_shown_once_and_revoked(line: CommandLine) -> None:
    """On a line of its own, so that a script can take it; lists show what it may do."""
    made = line.run(
        "keys", "create", "n8n", "--grant", "demo:read,write", "--grant", "*:admin"
    ).stdout
    listed = line.run("keys", "list", width=160).stdout
    narrow = line.run("keys", "list", width=60).stdout
    revoked = line.run("keys", "revoke", "jst_000000000000").stdout
    after = line.json("keys", "list")

    assert made == "jst_000000000000_secret\n"
    assert "demo: read, write" in listed
    assert "all: admin" in listed
    assert "jst_000000000000" in narrow
    assert "secret" not in listed
    assert revoked == "Revoked jst_000000000000.\n"
    assert after[0]["revoke_time"]


def test_a_key_goes_into_a_file_for_its_owner_alone(line: CommandLine, tmp_path: Path) -> None:
    """And not to the terminal; a file that is there is left as it is, and no key is made."""
    file = tmp_path / "key"
    made = line.run("keys", "create", "n", "--grant", "demo:read", "--key-file", str(file)).stdout

    assert "secret" not in made
    assert file.read_text() == "jst_000000000000_secret\n"
    assert file.stat().st_mode & 0o777 == 0o600
    line.error("keys", "create", "n", "--grant", "demo:read", "--key-file", str(file), code=7)
    assert len(line.state.keys) == 1


def test_a_file_without_a_key_is_taken_away(line: CommandLine, tmp_path: Path) -> None:
    """Where the gateway refuses, nothing is left that looks like a key."""
    line.state.failures["CreateKey"] = Unauthenticated("an API key is needed")

    error = line.error(
        "keys", "create", "n", "--grant", "demo:read", "--key-file", str(tmp_path / "key"), code=7
    )

    assert "--api-key-file" in error
    assert not (tmp_path / "key").exists()


def test_a_generated_key_is_one_that_the_gateway_reads(line: CommandLine, tmp_path: Path) -> None:
    """For the bootstrap file; no gateway is asked."""
    before = len(line.state.request_ids)
    line.run("keys", "generate", str(tmp_path / "first"))

    assert api_key_from((tmp_path / "first").read_text().strip()) is not None
    assert len(line.state.request_ids) == before


@pytest.mark.parametrize("grant", ["demo", "demo:", ":read", "demo:reed", "demo:read;write"])
def test_a_grant_that_is_none_is_refused(line: CommandLine, grant: str) -> None:
    """In words that show how one is written."""
    error = line.error("keys", "create", "n", "--grant", grant, code=2)

    assert "handbook:read" in error
    assert line.state.keys == {}


def test_the_command_line_shows_the_key_it_is_given(
    line: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a file that is named, or from the environment; the option goes before."""
    file = tmp_path / "key"
    file.write_text("jst_from_file\n")

    line.run("keys", "list")
    line.run("--api-key-file", str(file), "keys", "list")
    monkeypatch.setenv("JUSTESSE_API_KEY_FILE", "")
    monkeypatch.setenv("JUSTESSE_API_KEY", "jst_from_variable")
    line.run("keys", "list")
    line.run("--api-key-file", str(file), "keys", "list")

    assert line.state.authorizations[-4:] == [
        "",
        "Bearer jst_from_file",
        "Bearer jst_from_variable",
        "Bearer jst_from_file",
    ]


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        (("jst_a", "somewhere"), "both set"),
        (("", "nowhere"), "cannot be read"),
        (("", "empty"), "is empty"),
        (("jst secret", ""), "holds a blank"),
        (("jst_sécret", ""), "no key has"),
        (("s" * 1000, ""), "too many"),
    ],
)
def test_a_key_that_cannot_be_sent_is_told_without_being_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: tuple[str, str], words: str
) -> None:
    """Before anything is dialled."""
    (tmp_path / "empty").write_text("\n")
    monkeypatch.chdir(tmp_path)
    for name, value in zip(KEY_VARIABLES, variables, strict=True):
        monkeypatch.setenv(name, value)

    with pytest.raises(ValueError, match=words) as refused:
        Justesse("127.0.0.1:1")

    assert variables[0] == "" or variables[0] not in str(refused.value)


async def test_every_call_of_the_asyncio_client_carries_the_key() -> None:
    """Reads, changes and streams; keys come back with their grants and moments."""
    state = GatewayState(workspaces={"demo": {}})
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    grant = Grant("demo", (Action.READ,), filters.equals("category", "orders"))
    async with (
        fake_gateway(state) as address,
        AsyncJustesse(address, api_key="jst_mine") as justesse,
    ):
        created = await justesse.create_key("reader", [grant], expire_time=moment)
        await justesse.ingest("demo", b"text", file_name="a.md")
        (listed,) = await justesse.list_keys()
        revoked = await justesse.revoke_key(listed.prefix)
        async for _ in justesse.reembed("demo", "embedded"):
            continue

    assert set(state.authorizations) == {"Bearer jst_mine"}
    assert listed == created.key
    assert (listed.grants, listed.expire_time) == ((grant,), moment)
    assert revoked.revoke_time is not None
    assert created.api_key not in repr(created)
