"""Settings of the engine over PostgreSQL and Milvus."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MilvusSettings:
    """Holds where the store and the indexes are, and how the indexes work."""

    store_url: str
    """URL of a PostgreSQL database, such as postgresql+psycopg://user:password@host/name."""
    milvus_uri: str
    milvus_token: str = ""
    """Empty where Milvus asks for none."""
    milvus_database: str = ""
    """Empty for Milvus's default."""
    timeout_s: float = 10.0
    """Seconds that one call to Milvus may take."""
    thread_count: int = 16
    """Searches and reads that run at the same time, and as many changes beside them."""
    repair_pause_s: float = 1.0
    """Seconds between two looks for changes that a lost process left unfinished."""
    neighbour_count: int = 16
    """HNSW's M."""
    construction_breadth: int = 100
    """HNSW's efConstruction."""
    search_breadth: int = 64
    """HNSW's ef, at least."""
    title_boost: float = 2.0
    keywords_boost: float = 1.5
    body_boost: float = 1.0
