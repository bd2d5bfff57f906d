"""What the ingestion role can be told, as `JUSTESSE_INGESTION_...`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from chassis.server import ServerSettings
from chassis.settings import ServiceSettings
from gateway.database.urls import checked_database_url, with_url_of_file
from gateway.ingestion.embedding_calls import BatchLimits
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.passage_windows import WindowChoice
from gateway.jobs.retry_policy import RetryPolicy

_MEBIBYTE = 1024 * 1024


class IngestionSettings(ServiceSettings, ServerSettings):
    """Settings of the ingestion role."""

    model_config = SettingsConfigDict(env_prefix="JUSTESSE_INGESTION_")

    port: int = Field(default=50055, description="business port, 0 to 65535; 0 = a free one")
    embedder_target: str = Field(
        default="127.0.0.1:50051", min_length=1, description="address of the embedder"
    )
    retriever_target: str = Field(
        default="127.0.0.1:50052", min_length=1, description="address of the retriever"
    )
    claim_secret_file: Path | None = Field(
        default=None,
        description="file of the secrets that sign claims for the retriever, one a line",
    )
    data_folder: Path = Field(
        default=Path("justesse-data/ingestion"),
        description="folder of files on their way in, and of originals",
    )
    originals_url: str = Field(
        default="",
        description="folder or fsspec URL of originals, such as s3://BUCKET/PATH (needs s3fs); "
        "empty: originals/ in the data folder",
    )
    database_url: str = Field(
        default="sqlite+aiosqlite:///justesse-data/gateway.sqlite",
        description="URL of the gateway's database, which holds the jobs, with an asyncio driver, "
        "such as sqlite+aiosqlite:///FILE or postgresql+psycopg://USER@HOST/NAME",
    )
    database_url_file: Path | None = Field(
        default=None, description="file that holds that URL, in place of the setting"
    )
    files_at_once: int = Field(
        default=4, ge=1, le=256, description="files of jobs in work at the same time, 1 to 256"
    )
    job_lease_s: float = Field(
        default=15.0, ge=1, description="seconds after which a file of a lost process is taken up"
    )
    job_attempts: int = Field(
        default=12, ge=1, le=1000, description="attempts at a file while a service is lost"
    )
    job_retry_longest_s: float = Field(
        default=300.0, gt=0, description="seconds of the longest pause between two attempts"
    )
    job_retention_days: float = Field(
        default=7.0, gt=0, description="days for which a finished job and its files are kept"
    )
    max_file_bytes: int = Field(
        default=100 * _MEBIBYTE, ge=1, description="bytes of the largest file"
    )
    parser_processes: int = Field(
        default=2, ge=1, le=64, description="files read at the same time, 1 to 64"
    )
    parser_wall_s: float = Field(default=60.0, gt=0, description="seconds to read one file")
    parser_cpu_s: int = Field(
        default=30, ge=1, description="whole seconds of processor time to read one file"
    )
    parser_memory_mb: int = Field(
        default=1024, ge=256, description="MiB of memory to read one file, at least 256"
    )
    parser_ocr_s: float = Field(default=20.0, gt=0, description="seconds to read one image")
    max_ocr_pages: int = Field(
        default=200, ge=1, description="pages of one file that are read in their images"
    )
    max_image_pixels: int = Field(
        default=100_000_000, ge=1, description="pixels of the largest image"
    )
    max_pages: int = Field(default=2_000, ge=1, description="pages of the longest PDF")
    max_cells: int = Field(default=2_000_000, ge=1, description="cells of the largest workbook")
    max_characters: int = Field(
        default=10_000_000, ge=1, description="characters of the longest document"
    )
    max_archive_entries: int = Field(default=2_000, ge=1, description="entries of an Office file")
    max_archive_ratio: int = Field(
        default=100, ge=1, description="times an entry of an Office file may grow when unpacked"
    )
    max_archive_mb: int = Field(default=200, ge=1, description="MiB of an unpacked Office file")
    embed_batch_texts: int = Field(
        default=32, ge=1, le=256, description="passages embedded in one call, 1 to 256"
    )
    embed_batch_tokens: int = Field(
        default=8_000, ge=1, description="estimated tokens embedded in one call"
    )
    embed_calls: int = Field(
        default=2, ge=1, le=64, description="calls of the embedder at the same time, 1 to 64"
    )
    windows: WindowChoice = Field(
        default=WindowChoice.AUTO,
        description="spaces with windows: auto = where the provider recommends them; always; off",
    )
    windows_first: bool = Field(
        default=False,
        description="answer an upload only when its windows are there; else they follow",
    )
    embed_timeout_s: float = Field(default=120.0, gt=0, description="seconds for one such call")

    mover_interval_s: float = Field(
        default=30.0,
        gt=0,
        description="seconds between two looks for passages to bring to the preferred space",
    )

    def extraction_limits(self) -> ExtractionLimits:
        """Returns the bounds of reading one file."""
        return ExtractionLimits(
            wall_seconds=self.parser_wall_s,
            cpu_seconds=self.parser_cpu_s,
            memory_bytes=self.parser_memory_mb * _MEBIBYTE,
            pages=self.max_pages,
            cells=self.max_cells,
            characters=self.max_characters,
            ocr_seconds=self.parser_ocr_s,
            ocr_pages=self.max_ocr_pages,
            image_pixels=self.max_image_pixels,
            archive_entries=self.max_archive_entries,
            archive_ratio=self.max_archive_ratio,
            archive_bytes=self.max_archive_mb * _MEBIBYTE,
        )

    @model_validator(mode="before")
    @classmethod
    def _url_may_stand_in_a_file(cls, values: Any) -> Any:
        return with_url_of_file(values)

    @field_validator("database_url")
    @classmethod
    def _is_database_url(cls, url: str) -> str:
        return checked_database_url(url)

    def retry_policy(self) -> RetryPolicy:
        """Returns how often a file is tried."""
        return RetryPolicy(attempts=self.job_attempts, longest_s=self.job_retry_longest_s)

    def batch_limits(self) -> BatchLimits:
        """Returns how passages are sent to the embedder."""
        return BatchLimits(
            texts=self.embed_batch_texts,
            tokens=self.embed_batch_tokens,
            calls=self.embed_calls,
            timeout_s=self.embed_timeout_s,
        )
