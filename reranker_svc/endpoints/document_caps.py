"""How many documents, and how long ones, an endpoint takes, as far as is known by now."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chassis import clock as clocks
from chassis.clock import Clock

SHORTEST_CUT = 200
"""Characters; a document that is refused at this length is refused for another reason."""

_REMEMBERED_S = 600.0


@dataclass(slots=True)
class DocumentCaps:
    """The most documents of a request, and the longest document in characters.

    Endpoints read question and document together, so `pair_characters` bounds both; None until a
    document has been refused.
    """

    documents: int
    document_characters: int
    pair_characters: int | None = None

    def requests(self, count: int) -> Iterator[range]:
        """Yields the indices of `count` documents, in even shares that fit into requests."""
        parts = -(-count // self.documents)
        for part in range(parts):
            yield range(part * count // parts, (part + 1) * count // parts)

    def shorten(self, question: str, documents: Sequence[str]) -> list[str]:
        """Returns the documents, none longer than the caps, but each with 200 characters."""
        longest = self.document_characters
        if self.pair_characters is not None:
            longest = min(longest, max(SHORTEST_CUT, self.pair_characters - len(question)))
        return [document[:longest] for document in documents]

    def lower(self, question: str, refused: Sequence[str]) -> bool:
        """Lowers what a refused request may have broken; False where there is nothing to lower.

        First the number of documents, and for a single one its length.
        """
        longest = max(map(len, refused))
        if len(refused) > 1:
            self.documents = max(1, min(self.documents, len(refused) // 2))
        elif longest > SHORTEST_CUT:
            pair = len(question) + max(SHORTEST_CUT, longest // 2)
            self.pair_characters = min(pair, self.pair_characters or pair)
        else:
            return False
        return True


class LearntCaps:
    """The caps of an endpoint, lowered by calls that have succeeded with lower ones.

    What is learnt counts for ten minutes: an endpoint may have been set up anew, and one strange
    passage may have taught too much.
    """

    def __init__(self, known: DocumentCaps, clock: Clock = clocks.monotonic) -> None:
        self._known = known
        self._learnt = known
        self._until = 0.0
        self._clock = clock

    def on_trial(self) -> DocumentCaps:
        """Returns caps for one call, to be lowered as it needs."""
        if self._clock() >= self._until:
            self._learnt = self._known
        return replace(self._learnt)

    def learn(self, proved: DocumentCaps) -> None:
        """Takes over the caps that a whole call has succeeded with, where they are lower.

        Where a document had to be cut, it explains why requests that held it were refused.
        """
        now = self.on_trial()
        if proved.pair_characters != now.pair_characters:
            pairs = (proved.pair_characters, now.pair_characters)
            lowest = min(pair for pair in pairs if pair is not None)
            proved = replace(now, pair_characters=lowest)
        lower = replace(proved, documents=min(proved.documents, now.documents))
        if lower != now:
            self._learnt = lower
            self._until = self._clock() + _REMEMBERED_S
