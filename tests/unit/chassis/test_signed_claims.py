"""Claims hold for what they were signed for, while they last, and for nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.binding import StartError
from chassis.errors import PermissionDenied
from chassis.signed_claims import CLOCK_SKEW_S, LIFETIME_S, Claim, SignedClaims
from tests.fakes.clock import FakeClock

ONE, OTHER = "a" * 64, "b" * 64


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with one secret."""
    file = tmp_path / "secret"
    file.write_text(f"{ONE}\n")
    return file


def claims_of(file: Path, clock: FakeClock) -> SignedClaims:
    """Returns claims under a clock that a test moves."""
    return SignedClaims(file, now=clock, clock=clock)


@given(subject=st.text(max_size=70), action=st.sampled_from(["read", "write", "admin"]))
def test_a_claim_comes_back_as_it_was_signed(
    tmp_path_factory: pytest.TempPathFactory, subject: str, action: str
) -> None:
    """Whatever it is about; it fits into a header."""
    file = tmp_path_factory.getbasetemp() / "any-secret"
    file.write_text(ONE)
    clock = FakeClock()

    text = claims_of(file, clock).sign(subject, action)

    assert text.isascii()
    assert text.isprintable()
    assert claims_of(file, clock).read(text) == Claim(subject, action, int(clock()) + LIFETIME_S)


def test_any_change_is_noticed(file: Path) -> None:
    """Of one character anywhere, of a part, or of the secret."""
    claims = claims_of(file, FakeClock())
    text = claims.sign("sales", "read")
    parts = text.split(".")
    hr = claims.sign("hr", "admin").split(".")
    forged = {
        text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]
        for place in range(len(text))
    }
    forged |= {
        ".".join([*parts[:place], hr[place], *parts[place + 1 :]])
        for place in range(5)
        if parts[place] != hr[place]
    }
    forged |= {"", ".", text[:-1], f"{text}=", f"{text}.", f" {text}", text * 100, "é", "1.1.a.b"}
    forged |= {".".join(["1", "²", *parts[2:]]), ".".join(["1", "9" * 40, *parts[2:]])}

    for each in forged:
        with pytest.raises(PermissionDenied) as refused:
            claims.read(each)
        assert refused.value.reason == "CLAIM_REFUSED"
    assert claims.read(text).subject == "sales"


def test_a_claim_lasts_as_long_as_it_says(file: Path) -> None:
    """Give or take what clocks may differ by; one read before expires all the same."""
    clock = FakeClock()
    claims = claims_of(file, clock)
    text = claims.sign("sales", "read")
    reader = claims_of(file, clock)

    clock.now += LIFETIME_S + CLOCK_SKEW_S
    assert reader.read(text).subject == "sales"
    clock.now += 1
    with pytest.raises(PermissionDenied, match="expired"):
        reader.read(text)
    clock.now -= 2 * LIFETIME_S + 2 * CLOCK_SKEW_S + 2
    with pytest.raises(PermissionDenied, match="clocks"):
        reader.read(text)


def test_a_claim_is_signed_once_and_renewed_in_time(file: Path) -> None:
    """What a call carries always has half of its life before it."""
    clock = FakeClock()
    claims = claims_of(file, clock)
    first = claims.sign("sales", "read")

    clock.now += LIFETIME_S / 2
    assert claims.sign("sales", "read") == first
    clock.now += 1
    renewed = claims.sign("sales", "read")

    assert renewed != first
    assert claims.read(renewed).expiry == int(clock()) + LIFETIME_S


def test_secrets_are_changed_without_a_refused_call(tmp_path: Path) -> None:
    """Added last everywhere, moved to the front, the old one taken away."""
    clock = FakeClock()
    files = {name: tmp_path / name for name in ("signer", "reader")}
    for file in files.values():
        file.write_text(ONE)
    signer, reader = (claims_of(file, clock) for file in files.values())

    for secrets in ((ONE, OTHER), (OTHER, ONE), (OTHER,)):
        for file in files.values():
            assert reader.read(signer.sign("sales", "read")).subject == "sales"
            file.write_text("\n".join(secrets))
            clock.now += 6
            assert reader.read(signer.sign("sales", "read")).subject == "sales"

    old = tmp_path / "old"
    old.write_text(ONE)
    with pytest.raises(PermissionDenied, match="secret"):
        reader.read(claims_of(old, clock).sign("sales", "read"))


def test_a_secret_that_was_taken_away_ends_what_it_signed(file: Path) -> None:
    """Also claims that were read before."""
    clock = FakeClock()
    claims = claims_of(file, clock)
    text = claims.sign("sales", "read")
    assert claims.read(text).subject == "sales"

    file.write_text(OTHER)
    clock.now += 6

    with pytest.raises(PermissionDenied):
        claims.read(text)


def test_a_file_that_is_lost_meanwhile_changes_nothing(file: Path) -> None:
    """The last good secrets stay."""
    clock = FakeClock()
    claims = claims_of(file, clock)
    for spoil in (lambda: file.write_text("short"), file.unlink):
        spoil()
        clock.now += 6
        assert claims.read(claims.sign("sales", "read")).subject == "sales"


@pytest.mark.parametrize("content", [None, "", "\n\n", "hunter2", f"{ONE}\nhunter2"])
def test_a_start_without_secrets_is_refused(tmp_path: Path, content: str | None) -> None:
    """In words that say what to do and show none."""
    file = tmp_path / "secret"
    if content is not None:
        file.write_text(content)

    with pytest.raises(StartError, match="claim secrets") as refused:
        SignedClaims(file)

    assert "hunter2" not in str(refused.value)
    assert ONE not in str(refused.value)


def test_many_subjects_do_not_fill_memory(file: Path) -> None:
    """What is kept is bounded; what was dropped is signed again."""
    claims = claims_of(file, FakeClock())
    texts = {claims.sign(f"w{number}", "read") for number in range(5000)}

    assert len(texts) == 5000
    assert len({claims.read(text).subject for text in texts}) == 5000
    assert max(len(claims._signed), len(claims._read)) <= 4096
