"""The turns of a conversation as written on a command line: `user:text`, `assistant:text`."""

from collections.abc import Sequence

from justesse.cli.exit_codes import ExitCode
from justesse.cli.failures import CommandError
from justesse.client import Speaker, Turn

FORM = "SPEAKER is user or assistant."


def turns_of(texts: Sequence[str]) -> list[Turn]:
    """Reads turns; raises CommandError for one without a speaker or without words."""
    return [_turn_of(text) for text in texts]


def _turn_of(text: str) -> Turn:
    name, colon, words = text.partition(":")
    speakers = {speaker.value: speaker for speaker in Speaker}
    speaker = speakers.get(name.strip().lower())
    if not colon or speaker is None or not words.strip():
        raise CommandError(
            f"--history: {text!r} is not SPEAKER:TEXT with user or assistant as speaker",
            ExitCode.USAGE,
        )
    return Turn(speaker, words.strip())
