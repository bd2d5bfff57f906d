"""How much fits into one request, as far as is known by now."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from embedder_svc.hosted.model import HostedModel
from embedder_svc.hosted.refusals import Refusal

# Shorter requests say little about the tokens of ordinary text.
_TELLING_CHARACTERS = 200
_WEIGHT_OF_NEWS = 0.2
_RATES = (0.05, 2.0)


class RequestCaps:
    """The most texts and tokens of a request, the longest input, and the tokens of a character.

    Starts with what is known of the model. Caps only fall, since vendors do not raise them while
    we run, and go back where a single text turns out to have been too long; the tokens of a
    character follow what the vendor counts.
    """

    def __init__(self, model: HostedModel) -> None:
        self.texts = model.request_texts
        self.tokens = model.request_tokens
        self.input_tokens = model.input_tokens
        self._model = model
        self._rate = model.tokens_per_character
        # White space at the end of a prefix belongs to the text's first token.
        self._prefix_tokens = math.ceil(
            max(len(model.prefixes.query), len(model.prefixes.document))
            * model.tokens_per_character
        )

    @property
    def request(self) -> tuple[int, int]:
        """The most texts and tokens of a request."""
        return self.texts, self.tokens

    @request.setter
    def request(self, caps: tuple[int, int]) -> None:
        self.texts, self.tokens = caps

    @property
    def tokens_per_character(self) -> float:
        """The estimate used now."""
        return self._rate

    def estimated_tokens(self, text: str) -> int:
        """Estimates the tokens of a text with its prefix."""
        return math.ceil(len(text) * self._rate) + self._prefix_tokens

    def batches(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """Yields the texts in order, in requests within the caps."""
        batch: list[str] = []
        room = self.room()
        for text in texts:
            if not room.takes(text):
                yield batch
                batch, room = [], self.room()
                room.takes(text)
            batch.append(text)
        if batch:
            yield batch

    def room(self) -> "Room":
        """Returns an empty request."""
        return Room(self, self._model.alone_above_tokens)

    def told(self, texts: int | None, input_tokens: int | None) -> None:
        """Takes over what a server says of its own limits."""
        self.texts = texts or self.texts
        self.input_tokens = input_tokens or self.input_tokens

    def lower(self, refusal: Refusal, texts: Sequence[str]) -> None:
        """Learns that a request with these texts is small enough, and a greater one was not."""
        if refusal is not Refusal.TOO_MANY_TOKENS:
            self.texts = max(1, min(self.texts, len(texts)))
        if refusal is not Refusal.TOO_MANY_TEXTS:
            self.tokens = max(1, min(self.tokens, sum(map(self.estimated_tokens, texts))))

    def saw_tokens(self, texts: Sequence[str], token_count: int) -> None:
        """Learns from what a vendor counted for these texts."""
        characters = sum(map(len, texts))
        if characters >= _TELLING_CHARACTERS:
            seen = max(0, token_count - len(texts) * self._prefix_tokens) / characters
            self._set_rate(self._rate + _WEIGHT_OF_NEWS * (seen - self._rate))

    def saw_too_long(self, text: str) -> None:
        """Learns that a text has more tokens than the model takes."""
        self._set_rate(max(self._rate, self.input_tokens / len(text)))

    def _set_rate(self, rate: float) -> None:
        lowest, highest = _RATES
        self._rate = min(highest, max(lowest, rate))


@dataclass(slots=True)
class Room:
    """What is left of one request."""

    caps: RequestCaps
    alone_above_tokens: int | None
    texts: int = 0
    tokens: int = 0
    closed: bool = False

    def takes(self, text: str) -> bool:
        """Takes the text if there is room for it; an empty request takes any."""
        tokens = self.caps.estimated_tokens(text)
        alone = self.alone_above_tokens is not None and tokens > self.alone_above_tokens
        if self.texts and (alone or self._is_full(tokens)):
            return False
        self.texts += 1
        self.tokens += tokens
        self.closed = alone
        return True

    def _is_full(self, tokens: int) -> bool:
        too_many = self.texts >= self.caps.texts or self.tokens + tokens > self.caps.tokens
        return self.closed or too_many
