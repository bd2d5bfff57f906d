"""What the gateway's query role can be told, as `JUSTESSE_GATEWAY_...`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from chassis.server import ServerSettings
from chassis.settings import ServiceSettings
from chat_models.settings import ChatSettings
from gateway.access.access import AccessMode
from gateway.admission.admission import AdmissionLimits
from gateway.answers.checking.checked_answer import UnsupportedPolicy
from gateway.answers.evidence.decision import Strictness
from gateway.database.urls import checked_database_url, with_url_of_file

_TARGET = re.compile(r"(?P<before>.+:)(?P<port>[0-9]{1,5})")
MANAGEMENT_OFFSET = 1000


def management_target_of(target: str) -> str:
    """Returns the address of a service's management port: its business port + 1000."""
    match = _TARGET.fullmatch(target)
    if match is None:
        raise ValueError(f"the port is missing in {target!r}")
    return f"{match['before']}{int(match['port']) + MANAGEMENT_OFFSET}"


def _follows(target_field: str) -> Any:
    return Field(
        default_factory=lambda values: management_target_of(values[target_field]),
        description="host:port of the service's health; its business port + 1000 if not set",
    )


def _target(port: int) -> Any:
    return Field(default=f"127.0.0.1:{port}", description="host:port, or dns:///host:port")


class GatewaySettings(ServiceSettings, ServerSettings, ChatSettings):
    """Where the gateway listens, what it calls, where its switches are, and who writes answers."""

    model_config = SettingsConfigDict(env_prefix="JUSTESSE_GATEWAY_", populate_by_name=True)

    port: int = Field(default=50050, description="gRPC port, 0 to 65535; 0 = a free one")
    http_port: int = Field(
        default=8080, ge=0, le=65535, description="HTTP port, 0 to 65535; 0 = a free one"
    )
    tls_certificate_file: Path | None = Field(
        default=None,
        description="PEM file with the certificate chain that both doors show to callers",
    )
    tls_key_file: Path | None = Field(
        default=None, description="PEM file with the private key of that certificate"
    )
    rewriter_target: str = _target(50053)
    embedder_target: str = _target(50051)
    retriever_target: str = _target(50052)
    reranker_target: str = _target(50054)
    ingestion_target: str = _target(50055)
    rewriter_management_target: str = _follows("rewriter_target")
    embedder_management_target: str = _follows("embedder_target")
    retriever_management_target: str = _follows("retriever_target")
    reranker_management_target: str = _follows("reranker_target")
    ingestion_management_target: str = _follows("ingestion_target")
    database_url: str = Field(
        default="sqlite+aiosqlite:///justesse-data/gateway.sqlite",
        description="URL of the database that holds switches and glossaries, with an asyncio "
        "driver, such as sqlite+aiosqlite:///FILE or postgresql+psycopg://USER@HOST/NAME",
    )
    database_url_file: Path | None = Field(
        default=None, description="file that holds that URL, in place of the setting"
    )
    switch_refresh_s: float = Field(
        default=300.0, gt=0, description="seconds between two readings of switches and glossaries"
    )
    switch_poll_s: float = Field(
        default=2.0,
        gt=0,
        description="seconds between two looks for switches that another gateway has changed",
    )
    queries_at_work: int = Field(
        default=32, ge=1, description="searches and explanations worked on at the same time"
    )
    queries_waiting: int = Field(
        default=16, ge=0, description="searches and explanations that may wait for their turn"
    )
    ingestions_at_work: int = Field(
        default=16, ge=1, description="uploads worked on at the same time"
    )
    ingestions_waiting: int = Field(
        default=16, ge=0, description="uploads that may wait for their turn"
    )
    answers_at_work: int = Field(
        default=64, ge=1, description="answers that are written at the same time"
    )
    answers_waiting: int = Field(
        default=16, ge=0, description="questions that may wait for their turn to be answered"
    )
    unsupported_sentences: UnsupportedPolicy = Field(
        default=UnsupportedPolicy.MARK,
        description="what becomes of sentences of an answer that their sources do not bear out: "
        "mark or cut",
    )
    answer_evidence: Strictness = Field(
        default=Strictness.BALANCED,
        description="how much evidence it takes to answer at all: strict, balanced or open (any)",
    )
    answer_idle_s: float = Field(
        default=15.0,
        gt=0,
        le=20,
        description="seconds for which a model may be silent while it answers, up to 20",
    )
    longest_wait_s: float = Field(
        default=0.5, gt=0, description="seconds for which a call waits for its turn at most"
    )
    vector_cache_capacity: int = Field(
        default=4096, ge=1, le=1_000_000, description="query vectors kept in memory"
    )
    vector_cache_ttl_s: float = Field(
        default=600.0, gt=0, description="seconds for which a query vector is kept"
    )
    max_file_bytes: int = Field(default=100 * 2**20, gt=0, description="bytes of one uploaded file")
    upload_idle_s: float = Field(
        default=30.0, gt=0, description="seconds for which no byte of an upload may come"
    )
    upload_bytes_per_s: float = Field(
        default=1024.0,
        ge=0,
        description="bytes a second of an upload, on the whole, after the first idle seconds",
    )

    access: AccessMode = Field(
        default=AccessMode.AUTO,
        description="auto: keys are needed as soon as there is one; keys: always; open: never",
    )
    claim_secret_file: Path | None = Field(
        default=None,
        description="file of the secrets that sign claims for the retriever, one a line",
    )
    bootstrap_key_file: Path | None = Field(
        default=None, description="file that holds an API key which grants everything"
    )
    key_refresh_s: float = Field(
        default=10.0,
        gt=0,
        le=50,
        description="seconds between two readings of the keys, after which a key that was revoked "
        "elsewhere ends here, up to 50",
    )
    key_grace_s: float = Field(
        default=300.0,
        ge=0,
        description="seconds for which known keys are valid while the database is lost, from 0",
    )

    @model_validator(mode="before")
    @classmethod
    def _url_may_stand_in_a_file(cls, values: Any) -> Any:
        return with_url_of_file(values)

    @field_validator(
        "rewriter_target",
        "embedder_target",
        "retriever_target",
        "reranker_target",
        "ingestion_target",
    )
    @classmethod
    def _has_port(cls, target: str) -> str:
        if not _TARGET.fullmatch(target):
            raise ValueError("the port is missing")
        return target

    @field_validator("database_url")
    @classmethod
    def _is_database_url(cls, url: str) -> str:
        return checked_database_url(url)

    def query_limits(self) -> AdmissionLimits:
        """Returns how many searches are let in."""
        return AdmissionLimits(self.queries_at_work, self.queries_waiting, self.longest_wait_s)

    def answer_limits(self) -> AdmissionLimits:
        """Returns how many questions are answered at once."""
        return AdmissionLimits(self.answers_at_work, self.answers_waiting, self.longest_wait_s)

    def ingestion_limits(self) -> AdmissionLimits:
        """Returns how many uploads are let in."""
        limits = self.ingestions_at_work, self.ingestions_waiting
        return AdmissionLimits(*limits, self.longest_wait_s)
