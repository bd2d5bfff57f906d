"""Where a server listens, how long it waits, and how it stops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator


def _offset_port(offset: int) -> Callable[[dict[str, Any]], int]:
    def port(values: dict[str, Any]) -> int:
        business = int(values.get("port", 0))
        return business + offset if business else 0

    return port


class ServerSettings(BaseModel):
    """Mixed into the settings of each service.

    Health and metrics ports follow the business port (+ 1000, + 2000) unless they are given.
    """

    model_config = ConfigDict(frozen=True)

    host: str = Field(default="127.0.0.1", description="address of the business port")
    port: int = Field(default=0, description="business port, 0 to 65535; 0 = a free one")
    management_host: str = Field(
        default="127.0.0.1", description="address of the health and metrics ports"
    )
    management_port: int = Field(
        default_factory=_offset_port(1000),
        validate_default=True,
        description="health port, 0 to 65535",
    )
    metrics_port: int = Field(
        default_factory=_offset_port(2000),
        validate_default=True,
        description="metrics port, 0 to 65535",
    )
    insecure: bool = Field(
        default=False, description="true to serve other machines without encryption, else false"
    )
    mesh_certificate_file: Path | None = Field(
        default=None,
        description="PEM file with the certificate by which the other services know this one",
    )
    mesh_key_file: Path | None = Field(
        default=None, description="PEM file with the private key of that certificate"
    )
    mesh_ca_file: Path | None = Field(
        default=None, description="PEM file with the CAs of the other services' certificates"
    )
    mesh_peer_names: tuple[str, ...] = Field(
        default=("gateway", "ingestion"),
        min_length=1,
        description="names in the certificates of those who may call, separated by commas",
    )
    reflection: bool = Field(default=True, description="true or false")
    drain_pause_s: float = Field(
        default=0.0,
        ge=0,
        description="seconds between not-ready and stopping; longer than a probe period",
    )
    drain_grace_s: float = Field(default=20.0, ge=0, description="seconds left to calls in flight")
    default_deadline_s: float = Field(
        default=30.0, gt=0, description="seconds for a call whose caller set no deadline"
    )
    max_message_bytes: int = Field(default=16 * 2**20, gt=0, description="bytes, both directions")
    max_concurrent_calls: int = Field(
        default=1_000,
        ge=1,
        description="calls served at the same time, streams among them; others are refused at once",
    )
    max_connection_age_s: float | None = Field(
        default=300.0,
        gt=0,
        description="seconds after which clients reconnect and so find new servers",
    )

    otlp_endpoint: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s@]+$",
        description="base URL of the collector that takes spans by OTLP over HTTP",
    )
    trace_ratio: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="share of the traces that begin here that is recorded, 0 to 1",
    )

    # A validator, not a bound of the field: it still holds where a service sets its own default.
    @field_validator("port", "management_port", "metrics_port")
    @classmethod
    def _is_port(cls, port: int) -> int:
        if not 0 <= port <= 65535:
            raise ValueError("a port is a number from 0 to 65535")
        return port
