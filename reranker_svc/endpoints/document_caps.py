"""How many documents, and how long ones, an endpoint takes, as far as is known by now."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SHORTEST_CUT = 200
"""Characters; a document that is refused at this length is refused for another reason."""


@dataclass(slots=True)
class DocumentCaps:
    """The most documents of a request, and the longest document in characters."""

    documents: int
    characters: int

    def requests(self, count: int) -> Iterator[range]:
        """Yields the indices of `count` documents, in even shares that fit into requests."""
        parts = -(-count // self.documents)
        for part in range(parts):
            yield range(part * count // parts, (part + 1) * count // parts)

    def shorten(self, documents: Sequence[str]) -> list[str]:
        """Returns the documents, none longer than the cap."""
        return [document[: self.characters] for document in documents]

    def lower(self, refused: Sequence[str]) -> bool:
        """Lowers what a refused request may have broken; False where there is nothing to lower.

        First the number of documents, and for a single one its length.
        """
        longest = max(map(len, refused))
        if len(refused) > 1:
            self.documents = max(1, min(self.documents, len(refused) // 2))
        elif longest > SHORTEST_CUT:
            self.characters = max(SHORTEST_CUT, min(self.characters, longest // 2))
        else:
            return False
        return True

    def copy(self) -> "DocumentCaps":
        """Returns caps that may be lowered on trial."""
        return DocumentCaps(self.documents, self.characters)

    def learn(self, proved: "DocumentCaps") -> None:
        """Takes over caps that a whole call has succeeded with; they only fall.

        Endpoints do not raise theirs while this process runs.
        """
        self.documents = min(self.documents, proved.documents)
        self.characters = min(self.characters, proved.characters)
