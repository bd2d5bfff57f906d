"""What a caller adds to the sources, each part bounded and under a heading of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chassis.errors import FieldViolation, InvalidArgument
from gateway.context.formats import ContextLanguage
from gateway.context.neutralisation import neutralised
from gateway.rewriting import ConversationRole, ConversationTurn
from text_analysis.visible_text import visible

MAX_PART_BYTES = 4 * 1024
MAX_LIVE_DATA_BYTES = 16 * 1024
HISTORY_CHARACTERS = 6_000
"""Of the latest turns; what is older is left out of the prompt."""

_HEADINGS = {
    ContextLanguage.FRENCH: ("Rôle", "Autorisations", "Données en direct", "Conversation"),
    ContextLanguage.ENGLISH: ("Role", "Permissions", "Live data", "Conversation"),
}
_USER, _ASSISTANT = ConversationRole.USER, ConversationRole.ASSISTANT
_SPEAKERS = {
    ContextLanguage.FRENCH: {_USER: "Demande", _ASSISTANT: "Réponse"},
    ContextLanguage.ENGLISH: {_USER: "Asked", _ASSISTANT: "Answered"},
}


@dataclass(frozen=True, slots=True)
class WorkInstruction:
    """Parts that may be empty: who answers and for whom, what may be said to whom, facts of the
    moment that no document has, and the conversation until now, oldest turn first."""

    role: str = ""
    permissions_note: str = ""
    live_data: str = ""
    history: tuple[ConversationTurn, ...] = ()


NO_INSTRUCTION = WorkInstruction()


def check_instruction(instruction: WorkInstruction) -> None:
    """Raises InvalidArgument for a part that is too long; history is checked with the question."""
    violations = [
        FieldViolation(name, f"{name} has {length} bytes of UTF-8, at most {most} are taken")
        for name, text, most in (
            ("role", instruction.role, MAX_PART_BYTES),
            ("permissions_note", instruction.permissions_note, MAX_PART_BYTES),
            ("live_data", instruction.live_data, MAX_LIVE_DATA_BYTES),
        )
        if (length := len(text.encode())) > most
    ]
    if violations:
        words = "; ".join(violation.description for violation in violations)
        raise InvalidArgument(words, field=violations[0].field, violations=tuple(violations))


def orders(instruction: WorkInstruction, language: ContextLanguage) -> Iterator[str]:
    """Yields the parts that say what to do, which the caller's own system vouches for."""
    role, permissions, _, _ = _HEADINGS[language]
    for heading, text in ((role, instruction.role), (permissions, instruction.permissions_note)):
        if said := visible(text).strip():
            yield f"## {heading}\n{said}"


def facts(instruction: WorkInstruction, language: ContextLanguage) -> Iterator[str]:
    """Yields the parts that are data as passages are: nothing in them is an instruction."""
    _, _, live_data, conversation = _HEADINGS[language]
    if said := neutralised(instruction.live_data).strip():
        yield f"## {live_data}\n{said}"
    if turns := list(_latest(instruction.history, language)):
        yield "\n".join([f"## {conversation}", *turns])


def _latest(history: Sequence[ConversationTurn], language: ContextLanguage) -> Iterator[str]:
    """Yields the latest turns that fit, oldest first."""
    kept: list[str] = []
    left = HISTORY_CHARACTERS
    for turn in reversed(history):
        said = " ".join(neutralised(turn.text).split())
        line = f"- {_SPEAKERS[language][turn.role]} : {said}"[: max(left, 0)]
        left -= len(line) + 1
        if not line:
            break
        kept.append(line)
    return reversed(kept)
