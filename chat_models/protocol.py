"""What every chat model offers, hosted or not, alone or as a chain."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from chassis.deadline import Deadline
from chat_models.chat import ChatRequest, Completion
from chat_models.model_card import ModelCard


class ChatStream(Protocol):
    """Pieces of an answer, without its reasoning, as they are written; none of them is empty."""

    def __aiter__(self) -> AsyncIterator[str]:
        """Iterates over the pieces that have not been read yet."""

    @property
    def completion(self) -> Completion:
        """The whole answer; RuntimeError before the last piece has been read."""

    def so_far(self) -> Completion:
        """Returns what has been read until now, as an answer; tokens nobody counted are estimated.

        Its finish reason is OTHER while the stream goes on.
        """


class ChatModel(Protocol):
    """Continues conversations.

    Every method raises an error of the Unavailable or ResourceExhausted family where another model
    may do better, DeadlineExceeded where the time is over. Texts of errors hold no prompt, no
    answer and no key.
    """

    @property
    def name(self) -> str:
        """The word that settings and receipts use for the vendor."""

    @property
    def card(self) -> ModelCard:
        """The model, what it can read, and its price."""

    async def complete(self, request: ChatRequest, deadline: Deadline | None = None) -> Completion:
        """Returns the whole answer.

        The deadline of the call being served counts besides. A caller that is cancelled cancels
        the vendor's work by closing the connection.
        """

    def stream(
        self, request: ChatRequest, deadline: Deadline | None = None
    ) -> AbstractAsyncContextManager[ChatStream]:
        """Gives the answer piece by piece while inside; leaving early stops the vendor."""

    async def check(self) -> None:
        """Makes sure that the model can answer, and readies it; raises Unavailable if it cannot.

        Whatever is slow the first time (loading, connecting) belongs here.
        """

    async def close(self) -> None:
        """Closes all connections; no call follows."""
