"""The table of models: what each costs and reads, from a file of data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chat_models.model_card import UNKNOWN_CONTEXT_TOKENS, ModelCard, TokenPrice


class _Row(BaseModel):
    """One model of the file; prices for a million tokens, both or neither."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str = Field(min_length=1)
    name: str = Field(min_length=1)
    context_tokens: int = Field(default=UNKNOWN_CONTEXT_TOKENS, ge=512)
    input_per_million: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    output_per_million: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    currency: str = Field(default="USD", pattern=r"^[A-Z]{3}$")

    def matches(self, provider: str, name: str) -> bool:
        """Whether the row is about this model; a name ending in * stands for all that begin so."""
        if provider != self.provider:
            return False
        if self.name.endswith("*"):
            return name.startswith(self.name[:-1])
        return name == self.name

    def price(self) -> TokenPrice | None:
        """Returns the price, None if the row has none."""
        if self.input_per_million is None or self.output_per_million is None:
            return None
        return TokenPrice(self.input_per_million, self.output_per_million, self.currency)


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    model: tuple[_Row, ...] = ()


class ModelCards:
    """Looks models up; rows given first win, and within them the longest name."""

    def __init__(self, tables: Sequence[_Table]) -> None:
        self._tables = tables

    def card(self, provider: str, name: str) -> ModelCard:
        """Returns the card of a model; of an unknown one, without a price."""
        for table in self._tables:
            rows = [row for row in table.model if row.matches(provider, name)]
            if rows:
                row = max(rows, key=lambda each: len(each.name))
                return ModelCard(name, row.context_tokens, row.price())
        return ModelCard(name)


def model_cards(file: Path | None = None) -> ModelCards:
    """Returns our own table, behind that of `file` if one is given.

    Raises ValueError, naming the file, if it cannot be read or is not of the form.
    """
    packaged = resources.files("chat_models").joinpath("model_cards.toml").read_bytes()
    own = _Table.model_validate(tomllib.loads(packaged.decode()))
    if file is None:
        return ModelCards((own,))
    try:
        return ModelCards((_Table.model_validate(_parsed(file)), own))
    except ValidationError as error:
        mistake = error.errors()[0]
        place = ".".join(map(str, mistake["loc"]))
        raise ValueError(f"{file}: {place}: {mistake['msg']}") from error


def _parsed(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{file} cannot be read as TOML ({error})") from error
