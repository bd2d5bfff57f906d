"""A streamed answer while it is read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Self

from chassis.vendor_errors import VendorUnusable
from chat_models.answers import AnswerPart
from chat_models.chat import Completion, FinishReason
from chat_models.reasoning import ReasoningFilter

Finish = Callable[[str, AnswerPart], Completion]


class AnswerStream:
    """Pieces of an answer without its reasoning; none of them is empty.

    A stream that ends without saying why it stopped was cut, and raises VendorUnusable. `finish`
    makes the completion out of the text that was given and of one part that sums up all of them.
    """

    def __init__(self, vendor: str, parts: AsyncIterator[AnswerPart], finish: Finish) -> None:
        self._vendor = vendor
        self._parts = parts
        self._finish = finish
        self._filter = ReasoningFilter()
        self._whole = AnswerPart()
        self._given: list[str] = []
        self._first: str | None = None
        self._ended = False
        self._completion: Completion | None = None

    @property
    def completion(self) -> Completion:
        """The whole answer; RuntimeError before the last piece has been read."""
        if self._completion is None:
            raise RuntimeError("the answer has not been read to its end")
        return self._completion

    def so_far(self) -> Completion:
        """Returns what has been read until now; its finish reason is OTHER while it goes on."""
        if self._completion is not None:
            return self._completion
        text = "".join(self._given).strip()
        return self._finish(text, replace(self._whole, finish_reason=FinishReason.OTHER))

    async def begin(self) -> None:
        """Waits for the first piece, so that a vendor that fails does so before it is shown."""
        self._first = await self._next_piece()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        piece, self._first = self._first, None
        if piece is None:
            piece = await self._next_piece()
        if piece is None:
            raise StopAsyncIteration
        return piece

    async def _next_piece(self) -> str | None:
        while not self._ended:
            part = await anext(self._parts, None)
            if part is None:
                self._ended = True
                piece = self._filter.close()
            else:
                self._whole = _joined(self._whole, part)
                piece = self._filter.feed(part.text)
            if piece:
                self._given.append(piece)
            if self._ended:
                self._complete()
            if piece:
                return piece
        return None

    def _complete(self) -> None:
        text = "".join(self._given).strip()
        reason = self._whole.finish_reason
        if reason is None:
            raise VendorUnusable(self._vendor, "ended its answer too early")
        if not text and reason in (FinishReason.STOP, FinishReason.OTHER):
            raise VendorUnusable(self._vendor, "answered without a word")
        self._completion = self._finish(text, self._whole)


def _joined(whole: AnswerPart, part: AnswerPart) -> AnswerPart:
    refused = whole.finish_reason is FinishReason.REFUSED
    return replace(
        whole,
        text=whole.text + part.text,
        finish_reason=whole.finish_reason if refused else part.finish_reason or whole.finish_reason,
        input_tokens=whole.input_tokens if part.input_tokens is None else part.input_tokens,
        output_tokens=whole.output_tokens if part.output_tokens is None else part.output_tokens,
    )
