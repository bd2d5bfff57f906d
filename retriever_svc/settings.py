"""Settings of the retriever, from variables named JUSTESSE_RETRIEVER_*."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from chassis.server import ServerSettings
from retriever_svc.embedded.dense.dense_settings import DenseSettings, VectorStorage
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.embedded.lexical.lexical_settings import LexicalSettings
from retriever_svc.milvus.milvus_settings import MilvusSettings
from retriever_svc.milvus.milvus_variables import Engine, MilvusVariables
from retriever_svc.transfers.transfer_limits import TransferLimits
from retriever_svc.wire.uploads import UploadLimits

_DENSE = DenseSettings()
_EMBEDDED = EmbeddedSettings(Path())
_LEXICAL = LexicalSettings()
_UPLOAD = UploadLimits()
_GROUPED_CHANGES = 32


class RetrieverSettings(MilvusVariables, ServerSettings):
    """What the retriever can be told."""

    model_config = SettingsConfigDict(env_prefix="JUSTESSE_RETRIEVER_", frozen=True)

    port: int = 50052
    claim_secret_file: Path | None = Field(
        default=None,
        description="file of the secrets that claims of callers are signed with, one a line; "
        "without it callers need no claims",
    )
    data_folder: Path = Field(
        default=Path("justesse-data/retriever"), description="folder of the store and indexes"
    )
    allow_network_file_system: bool = Field(
        default=False, description="true to risk a data folder on a network file system, or false"
    )
    write_queue_limit: int = Field(
        default=1_000, ge=1, description="changes that may wait for the disk, from 1"
    )
    log_limit_bytes: int = Field(
        default=_EMBEDDED.log_limit_bytes,
        ge=32 * 2**20,
        description="bytes of the write-ahead log at which changes are refused while a process "
        "from outside reads the store, from 33554432",
    )
    purge_within_s: float = Field(
        default=_EMBEDDED.purge_within_s,
        gt=0,
        description="seconds within which what is deleted leaves all files, over 0",
    )
    vacuum_limit_bytes: int = Field(
        default=_EMBEDDED.vacuum_limit_bytes,
        ge=0,
        description="bytes of the store up to which a purge writes all of it anew, from 0",
    )
    disk_reserve_bytes: int = Field(
        default=_EMBEDDED.disk_reserve_bytes,
        ge=0,
        description="bytes kept aside for deletions when the disk is full, from 0",
    )
    max_passages_per_document: int = Field(
        default=_UPLOAD.max_passages, ge=1, description="passages, from 1"
    )
    max_document_bytes: int = Field(
        default=_UPLOAD.max_bytes, ge=1, description="bytes of a streamed document, from 1"
    )
    transfer_idle_s: float = Field(
        default=TransferLimits().idle_s,
        gt=0,
        description="seconds after which an export that nobody reads, or an import that brings "
        "nothing, is given up, over 0",
    )
    flat_row_limit: int = Field(
        default=_DENSE.flat_row_limit,
        ge=0,
        description="vectors of 384 values up to which search is exact, from 0",
    )
    growing_row_limit: int = Field(
        default=_DENSE.growing_row_limit,
        ge=1,
        description="vectors that gather before they join a graph, from 1",
    )
    dead_share_limit: float = Field(
        default=_DENSE.dead_share_limit,
        gt=0,
        le=1,
        description="share of deleted entries at which an index is rebuilt, over 0, up to 1",
    )
    neighbour_count: int = Field(
        default=_DENSE.neighbour_count, ge=2, le=128, description="HNSW's M, 2 to 128"
    )
    construction_breadth: int = Field(
        default=_DENSE.construction_breadth, ge=8, description="HNSW's efConstruction, from 8"
    )
    search_breadth: int = Field(
        default=_DENSE.search_breadth, ge=1, description="HNSW's efSearch, from 1"
    )
    vector_storage: VectorStorage = Field(
        default=_DENSE.vector_storage, description="float32, float16 or int8, in graphs"
    )
    snapshot_row_limit: int = Field(
        default=_DENSE.snapshot_row_limit,
        ge=0,
        description="vectors in graphs up to which an index has a snapshot, from 0 (none)",
    )
    passage_cache_bytes: int = Field(
        default=_EMBEDDED.passage_cache_bytes,
        ge=0,
        description="bytes of memory for passages that searches have read, from 0 (none)",
    )
    recall_sample_share: float = Field(
        default=_EMBEDDED.recall_sample_share,
        ge=0,
        le=1,
        description="share of searches repeated exactly to measure recall, 0 (none) to 1",
    )
    title_boost: float = Field(
        default=_LEXICAL.title_boost, ge=0, description="weight of titles and headings, from 0"
    )
    keywords_boost: float = Field(
        default=_LEXICAL.keywords_boost, ge=0, description="weight of keywords, from 0"
    )
    body_boost: float = Field(
        default=_LEXICAL.body_boost, ge=0, description="weight of passage texts, from 0"
    )

    def embedded(self) -> EmbeddedSettings:
        """Returns the settings of the embedded engine."""
        return EmbeddedSettings(
            data_folder=self.data_folder,
            dense=DenseSettings(
                flat_row_limit=self.flat_row_limit,
                growing_row_limit=self.growing_row_limit,
                dead_share_limit=self.dead_share_limit,
                neighbour_count=self.neighbour_count,
                construction_breadth=self.construction_breadth,
                search_breadth=self.search_breadth,
                vector_storage=self.vector_storage,
                snapshot_row_limit=self.snapshot_row_limit,
            ),
            lexical=LexicalSettings(
                title_boost=self.title_boost,
                keywords_boost=self.keywords_boost,
                body_boost=self.body_boost,
                dead_share_limit=self.dead_share_limit,
            ),
            write_queue_limit=self.write_queue_limit,
            log_limit_bytes=self.log_limit_bytes,
            purge_within_s=self.purge_within_s,
            vacuum_limit_bytes=self.vacuum_limit_bytes,
            disk_reserve_bytes=self.disk_reserve_bytes,
            passage_cache_bytes=self.passage_cache_bytes,
            recall_sample_share=self.recall_sample_share,
            allow_network_file_system=self.allow_network_file_system,
        )

    def milvus(self) -> MilvusSettings:
        """Returns the settings of the engine over PostgreSQL and Milvus."""
        return MilvusSettings(
            store_url=self.store_url,
            milvus_uri=self.milvus_uri,
            milvus_token=self.milvus_secret,
            milvus_database=self.milvus_database,
            timeout_s=self.milvus_timeout_s,
            thread_count=self.milvus_threads,
            neighbour_count=self.neighbour_count,
            construction_breadth=self.construction_breadth,
            search_breadth=self.search_breadth,
            title_boost=self.title_boost,
            keywords_boost=self.keywords_boost,
            body_boost=self.body_boost,
        )

    def upload_limits(self) -> UploadLimits:
        """Returns the bounds of one streamed document."""
        return UploadLimits(self.max_passages_per_document, self.max_document_bytes)

    def transfer_limits(self) -> TransferLimits:
        """Returns the bounds of exports and imports."""
        # The embedded engine makes changes in the order in which it is asked, some with one sync.
        embedded = self.engine is Engine.EMBEDDED
        return TransferLimits(
            idle_s=self.transfer_idle_s, changes_at_once=_GROUPED_CHANGES if embedded else 1
        )
