"""What a preset chooses, and the presets there are."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pydantic import Field, TypeAdapter
from pydantic.dataclasses import dataclass

from gateway.context.rules import ContextRules
from gateway.filters import Threshold

DEFAULT_PRESET = "default"
_FILE = "presets.toml"


@dataclass(frozen=True, slots=True)
class DistanceRule:
    """Drops hits whose cosine distance in the preferred space is greater, 0 to 2.

    It counts for documents whose metadata field of that name equals, or does not equal, the
    request's context value of that name.
    """

    max_distance: float = Field(ge=0, le=2)
    context_field: str = ""
    context_differs: bool = False


@dataclass(frozen=True, slots=True)
class SearchDefaults:
    """Values of a search that a request may leave to its workspace; 0 leaves them to the switches.

    `min_similarity` and `distances` are about the cosine in the workspace's preferred space.
    """

    limit: int = Field(default=8, ge=1, le=100)
    candidate_count: int = Field(default=0, ge=0, le=200)
    rerank_candidate_count: int = Field(default=0, ge=0, le=200)
    min_similarity: float | None = Field(default=None, ge=-1, le=1)
    distances: tuple[DistanceRule, ...] = ()

    def thresholds(self, space_id: str) -> tuple[Threshold, ...]:
        """Returns the rules for the preferred space; none without one."""
        if not space_id:
            return ()
        floor = (
            ()
            if self.min_similarity is None
            else (Threshold(space_id, min_similarity=self.min_similarity),)
        )
        return floor + tuple(
            Threshold(
                space_id,
                max_distance=rule.max_distance,
                context_field=rule.context_field,
                context_differs=rule.context_differs,
            )
            for rule in self.distances
        )


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """How models answer: temperature, 0 to 2, and tokens written at most, by where they run.

    An answer has `passage_count` passages at most.
    """

    temperature: float = Field(default=0.2, ge=0, le=2)
    max_tokens_hosted: int = Field(default=1024, ge=16, le=32_000)
    max_tokens_ollama: int = Field(default=1024, ge=16, le=32_000)
    passage_count: int = Field(default=4, ge=1, le=100)


@dataclass(frozen=True, slots=True)
class Preset:
    """One preset; an empty text leaves the choice to where it is made without a preset."""

    name: str
    chunking_profile: str = ""
    embedding_model: str = ""
    search: SearchDefaults = Field(default_factory=SearchDefaults)
    context: ContextRules = Field(default_factory=ContextRules)
    answer: AnswerRules = Field(default_factory=AnswerRules)


def preset_named(name: str) -> Preset:
    """Returns a preset; an empty name means "default".

    So does a name that is not known: a workspace may have been made by a later version.
    """
    known = presets()
    return known.get(name) or known[DEFAULT_PRESET]


@cache
def presets() -> Mapping[str, Preset]:
    """Returns all presets by name, in the order of the file."""
    text = (files(__package__) / _FILE).read_text("utf-8")
    read = TypeAdapter(Preset).validate_python
    return {name: read({"name": name, **values}) for name, values in tomllib.loads(text).items()}
