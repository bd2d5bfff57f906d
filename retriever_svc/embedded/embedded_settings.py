"""Settings of the embedded engine."""

from dataclasses import dataclass, field
from pathlib import Path

from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.lexical.lexical_settings import LexicalSettings


@dataclass(frozen=True, slots=True)
class EmbeddedSettings:
    """Holds where the engine keeps its data and how its indexes work."""

    data_folder: Path
    dense: DenseSettings = field(default_factory=DenseSettings)
    lexical: LexicalSettings = field(default_factory=LexicalSettings)
    write_queue_limit: int = 1_000
    """Changes that may wait for the disk."""
    log_limit_bytes: int = 256 * 2**20
    """Size of the write-ahead log at which changes are refused, while a reader holds it."""
    purge_within_s: float = 14_400.0
    """Seconds within which the bytes of what is deleted leave all files."""
    vacuum_limit_bytes: int = 64 * 2**20
    """Size of the store up to which the purge of deleted content writes all of it anew."""
    disk_reserve_bytes: int = 8 * 2**20
    """Disk space kept aside for deletions when the disk is full; 0 for none."""
    passage_cache_bytes: int = 32 * 2**20
    """Memory for passages that searches have read; 0 reads them from the store each time."""
    recall_sample_share: float = 0.0
    """Share of searches whose dense lists are repeated exactly, to measure their recall."""
    allow_network_file_system: bool = False
