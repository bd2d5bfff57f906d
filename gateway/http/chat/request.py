"""Conversations in OpenAI's shape, and the questions in them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, StrictBool, StrictStr, Tag

from chassis.errors import InvalidArgument
from gateway.questions import Question
from gateway.rewriting import ConversationRole, ConversationTurn
from gateway.validation import MAX_HISTORY_BYTES, MAX_HISTORY_TURNS

_SPEAKERS = {"user": ConversationRole.USER, "assistant": ConversationRole.ASSISTANT}


class _OpenBody(BaseModel):
    """A body of which only some fields have a meaning here."""

    model_config = ConfigDict(extra="ignore")


class TextPartBody(_OpenBody):
    """A part of a message that is text."""

    type: Literal["text"]
    text: StrictStr


class OtherPartBody(_OpenBody):
    """A part that is no text: an image, a sound, a file."""

    type: StrictStr


def _kind_of_part(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return "text" if kind == "text" else "other"


PartBody = Annotated[
    Annotated[TextPartBody, Tag("text")] | Annotated[OtherPartBody, Tag("other")],
    Discriminator(_kind_of_part),
]


class MessageBody(_OpenBody):
    """One message; those of the system and of tools are not used."""

    role: StrictStr
    content: StrictStr | list[PartBody] | None = None

    def text(self, place: str) -> str:
        """Returns its text; InvalidArgument for parts that are none."""
        if not isinstance(self.content, list):
            return self.content or ""
        for index, part in enumerate(self.content):
            if isinstance(part, OtherPartBody):
                raise InvalidArgument(
                    f"{place}.content[{index}] is of type {part.type[:40]!r}; only text can be "
                    "asked",
                    field=f"{place}.content[{index}].type",
                    reason="CONTENT_NOT_SUPPORTED",
                )
        return "\n".join(part.text for part in self.content if isinstance(part, TextPartBody))


class StreamOptionsBody(_OpenBody):
    """What a stream holds besides."""

    include_usage: StrictBool = False


class ChatBody(_OpenBody):
    """A conversation whose last message is the question.

    How it is answered is the workspace's preset: temperature, caps, tools and the like are taken
    and not used.
    """

    model: StrictStr = Field(description="slug of the workspace")
    messages: list[MessageBody] = Field(description="the last is the user's question")
    stream: StrictBool | None = None
    stream_options: StreamOptionsBody | None = None

    def question(self) -> Question:
        """Returns the question with the turns before it; InvalidArgument where there is none."""
        last = len(self.messages) - 1
        if last < 0 or self.messages[last].role != "user":
            raise InvalidArgument("the last message must be the user's", field="messages")
        turns = [
            ConversationTurn(_SPEAKERS[message.role], text)
            for index, message in enumerate(self.messages[:last])
            if message.role in _SPEAKERS and (text := message.text(f"messages[{index}]")).strip()
        ]
        asked = self.messages[last].text(f"messages[{last}]")
        return Question(self.model, asked, history=_latest(turns))


def _latest(turns: list[ConversationTurn]) -> tuple[ConversationTurn, ...]:
    """Returns the latest turns that a question may have: chats send all there ever were."""
    kept: list[ConversationTurn] = []
    left = MAX_HISTORY_BYTES
    for turn in reversed(turns[-MAX_HISTORY_TURNS:]):
        left -= len(turn.text.encode())
        if left < 0:
            break
        kept.append(turn)
    return tuple(reversed(kept))
