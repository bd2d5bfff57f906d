"""Settings of the engine over PostgreSQL and Milvus, as the environment gives them."""

from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from pydantic import Field, SecretStr, model_validator

from chassis.settings import ServiceSettings
from chassis.vendor_key import vendor_key
from retriever_svc.milvus.milvus_settings import MilvusSettings

_DEFAULTS = MilvusSettings("", "")
_DRIVER = "postgresql+psycopg"


class Engine(StrEnum):
    """Names what stores and searches."""

    EMBEDDED = "embedded"
    """SQLite, FAISS and tantivy in the data folder of one process."""
    MILVUS = "milvus"
    """PostgreSQL and Milvus, behind any number of processes."""


class MilvusVariables(ServiceSettings):
    """What names the store and Milvus."""

    engine: Engine = Field(
        default=Engine.EMBEDDED,
        description="embedded (everything in the data folder) or milvus (PostgreSQL and Milvus)",
    )
    store_url: str = Field(
        default="",
        description="with the engine milvus, URL of the PostgreSQL database that keeps everything, "
        "such as postgresql+psycopg://USER@HOST/NAME",
    )
    store_url_file: Path | None = Field(
        default=None, description="file that holds that URL, in place of the setting"
    )
    milvus_uri: str = Field(
        default="",
        description="with the engine milvus, where Milvus is, such as http://HOST:19530",
    )
    milvus_token: SecretStr | None = Field(
        default=None, description="USER:PASSWORD or token that Milvus asks for"
    )
    milvus_token_file: Path | None = Field(
        default=None, description="file that holds that token, in place of the setting"
    )
    milvus_database: str = Field(
        default=_DEFAULTS.milvus_database, description="database of Milvus; empty for its default"
    )
    milvus_timeout_s: float = Field(
        default=_DEFAULTS.timeout_s, gt=0, description="seconds that one call to Milvus may take"
    )
    milvus_threads: int = Field(
        default=_DEFAULTS.thread_count,
        ge=1,
        description="searches and reads at the same time, and as many changes; connections to the "
        "store are twice as many, and one more",
    )

    @model_validator(mode="before")
    @classmethod
    def _url_may_stand_in_a_file(cls, values: Any) -> Any:
        file = values.get("store_url_file") if isinstance(values, dict) else None
        if not file:
            return values
        given = values.get("store_url")
        url = vendor_key(SecretStr(given) if given else None, Path(file), "STORE_URL")
        return values if url is None else {**values, "store_url": url.get_secret_value()}

    @model_validator(mode="after")
    def _milvus_needs_both(self) -> Self:
        if self.engine is not Engine.MILVUS:
            return self
        if not self.milvus_uri:
            raise ValueError("ENGINE=milvus needs MILVUS_URI, such as http://HOST:19530")
        if not self.store_url.startswith(f"{_DRIVER}://"):
            raise ValueError(f"ENGINE=milvus needs a STORE_URL that begins with {_DRIVER}://")
        vendor_key(self.milvus_token, self.milvus_token_file, "MILVUS_TOKEN")
        return self

    @property
    def milvus_secret(self) -> str:
        """The token, wherever it stands; empty for none."""
        token = vendor_key(self.milvus_token, self.milvus_token_file, "MILVUS_TOKEN")
        return "" if token is None else token.get_secret_value()
