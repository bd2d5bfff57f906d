"""Settings of a service, read from the environment once, at start.

All mistakes are reported together, one line each. A variable with the service's own prefix that
no setting bears is a mistake too, so that a typing error cannot pass for a setting.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import AliasChoices, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from chassis.binding import EXIT_CONFIG
from chassis.logs import LogFormat, LogLevel

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?$")
_URL_USER = re.compile(r"://[^/@\s]*@")


class ServiceSettings(BaseSettings):
    """What every service can be told; a subclass sets `env_prefix` and adds its own fields.

    Built directly, it sees its arguments only; `load_settings` reads the environment. A field
    that is a list or tuple takes a comma-separated value, or JSON if it starts with a bracket.
    """

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    log_format: LogFormat = Field(default="json", description="json or console")
    log_level: LogLevel = Field(default="info", description="debug, info, warning or error")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Keeps construction free of hidden inputs."""
        return (init_settings,)


Loaded = TypeVar("Loaded", bound=ServiceSettings)


class SettingsError(ValueError):
    """The environment does not give usable settings; `lines` has one line for each mistake."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


def load_settings(cls: type[Loaded], environ: Mapping[str, str] | None = None) -> Loaded:
    """Returns the settings, or prints every mistake to standard error and exits with 78."""
    try:
        return read_settings(cls, os.environ if environ is None else environ)
    except SettingsError as mistakes:
        sys.stderr.write(f"settings: {len(mistakes.lines)} to correct\n{mistakes}\n")
        raise SystemExit(EXIT_CONFIG) from None


def read_settings(cls: type[Loaded], environ: Mapping[str, str]) -> Loaded:
    """Returns the settings found in `environ`, or raises SettingsError."""
    variables = _variables(cls)
    lines = _unknown_lines(cls, variables, environ)
    try:
        settings = cls(**_EnvironSource(cls, environ)())
    except ValidationError as error:
        # A default made from a wrong value is no mistake of its own.
        mistakes = [m for m in error.errors() if m["type"] != "default_factory_not_called"]
        lines += [_line(cls, mistake, variables, environ) for mistake in mistakes]
    else:
        if not lines:
            return settings
    raise SettingsError(lines)


class _EnvironSource(EnvSettingsSource):
    """Reads a given mapping instead of the process's environment."""

    def __init__(self, cls: type[BaseSettings], environ: Mapping[str, str]) -> None:
        self._environ = environ
        super().__init__(cls)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in self._environ.items()}

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        text = str(value).strip()
        if not text.startswith(("[", "{")):
            return [part.strip() for part in text.split(",") if part.strip()]
        try:
            return super().decode_complex_value(field_name, field, text)
        except ValueError:
            return text


def _variables(cls: type[ServiceSettings]) -> dict[str, str]:
    """Returns which field each variable sets.

    A field with an alias is read by that name alone, prefix and all, so that one variable can
    serve two processes.
    """
    prefix = cls.model_config.get("env_prefix", "").upper()
    return {
        variable: name
        for name, field in cls.model_fields.items()
        for variable in _aliases(field) or [prefix + name.upper()]
    }


def _aliases(field: FieldInfo) -> list[str]:
    alias = field.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
    return [choice.upper() for choice in choices if isinstance(choice, str)]


def _unknown_lines(
    cls: type[ServiceSettings], variables: Mapping[str, str], environ: Mapping[str, str]
) -> list[str]:
    prefix = cls.model_config.get("env_prefix", "").upper()
    if not prefix:
        return []
    lines = []
    for name in sorted(environ):
        if name.upper().startswith(prefix) and name.upper() not in variables:
            short = name.upper().removeprefix(prefix)
            shorts = {variable.removeprefix(prefix): variable for variable in variables}
            near = difflib.get_close_matches(short, list(shorts), 1)
            known = ", ".join(variables)
            hint = f"did you mean {shorts[near[0]]}?" if near else f"known: {known}"
            lines.append(f"{name}: no such setting; {hint}")
    return lines


def _line(
    cls: type[ServiceSettings],
    mistake: ErrorDetails,
    variables: Mapping[str, str],
    environ: Mapping[str, str],
) -> str:
    problem = mistake["msg"].removeprefix("Value error, ")
    if not mistake["loc"]:
        return f"settings: {problem}"
    place = str(mistake["loc"][0])
    field = variables.get(place.upper(), place)
    given = {name.upper(): value for name, value in environ.items()}
    names = [name for name, owner in variables.items() if owner == field]
    variable = next((name for name in names if name in given), names[0] if names else place)
    if mistake["type"] == "missing":
        return f"{variable} is not set; expected: {_expected(cls, field, 'a value')}"
    shown = _shown(variable, given.get(variable, ""), cls.model_fields[field])
    return f"{variable}={shown}: {problem}; expected: {_expected(cls, field, problem)}"


def _expected(cls: type[ServiceSettings], field: str, otherwise: str) -> str:
    # A subclass that gives a field its own default keeps the description of the first.
    for owner in cls.__mro__:
        fields: Mapping[str, FieldInfo] = getattr(owner, "__pydantic_fields__", {})
        if field in fields and fields[field].description:
            return str(fields[field].description)
    return otherwise


def _shown(variable: str, value: str, field: FieldInfo) -> str:
    if "Secret" in str(field.annotation) or _SECRET_NAME.search(variable):
        return "***"
    return repr(_URL_USER.sub("://***@", value))
