"""The processes of a mesh: what is started, where each listens, and what each is told."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from justesse.cli.local_mesh.claim_secret import claim_secret_file

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Service:
    """One of the processes a mesh consists of."""

    name: str
    module: str
    default_port: int

    @property
    def prefix(self) -> str:
        """Beginning of the names of its environment variables."""
        return f"JUSTESSE_{self.name.upper()}_"


GATEWAY = Service("gateway", "gateway", 50050)
INGESTION = Service("ingestion", "gateway.ingestion", 50055)
RETRIEVER = Service("retriever", "retriever_svc", 50052)
EMBEDDER = Service("embedder", "embedder_svc", 50051)
RERANKER = Service("reranker", "reranker_svc", 50054)
REWRITER = Service("rewriter", "rewriter_svc", 50053)

START_ORDER = (EMBEDDER, RETRIEVER, REWRITER, RERANKER, INGESTION, GATEWAY)
"""The slowest to get ready first."""
STOP_ORDER = ((GATEWAY,), (INGESTION,), (RETRIEVER, EMBEDDER, RERANKER, REWRITER))
"""A process stops only after those that call it, so that no request under way loses a part."""

DATABASE_VARIABLES = (f"{GATEWAY.prefix}DATABASE_URL", f"{INGESTION.prefix}DATABASE_URL")
"""Of the gateway's database, as both of its roles are told where it is."""

KNOWN_VECTORS_VARIABLE = f"{EMBEDDER.prefix}DATA_FOLDER"
"""Of the folder where the embedder keeps what it knows; several meshes in turn may share one."""

CLAIM_SECRET_VARIABLES = tuple(
    f"{service.prefix}CLAIM_SECRET_FILE" for service in (GATEWAY, INGESTION, RETRIEVER)
)
"""Of the secrets by which the retriever knows its callers; told by all three or by none."""

DEFAULT_HTTP_PORT = 8080
MANAGEMENT_OFFSET = 1000
METRICS_OFFSET = 2000


@dataclass(frozen=True, slots=True)
class Ports:
    """Where one process listens; `http` for the gateway only."""

    business: int
    management: int
    metrics: int
    http: int | None = None

    def all(self) -> tuple[int, ...]:
        """Lists every port."""
        http = () if self.http is None else (self.http,)
        return (self.business, self.management, self.metrics, *http)

    @property
    def address(self) -> str:
        """Address of the business port."""
        return f"{HOST}:{self.business}"

    @property
    def management_address(self) -> str:
        """Address of the health port."""
        return f"{HOST}:{self.management}"


Layout = Mapping[str, Ports]
"""Ports by name of service."""


def environment_of(
    service: Service, layout: Layout, data_folder: Path, inherited: Mapping[str, str]
) -> dict[str, str]:
    """Builds the environment of one process.

    What the caller's environment says is kept, except for what must fit this mesh: ports, the
    addresses of the others, and folders. A database that it names is used instead of a file, and a
    folder of known vectors instead of one below the data folder. Secrets of claims are the caller's
    affair where it names a file for one process.
    """
    own = layout[service.name]
    told = {
        "HOST": HOST,
        "PORT": str(own.business),
        "MANAGEMENT_PORT": str(own.management),
        "METRICS_PORT": str(own.metrics),
    }
    if service in (GATEWAY, INGESTION) and f"{service.prefix}DATABASE_URL" not in inherited:
        default = f"sqlite+aiosqlite:///{data_folder / 'gateway.sqlite'}"
        told["DATABASE_URL"] = inherited.get(DATABASE_VARIABLES[0], default)
    if f"{service.prefix}CLAIM_SECRET_FILE" in CLAIM_SECRET_VARIABLES and not (
        inherited.keys() & set(CLAIM_SECRET_VARIABLES)
    ):
        told["CLAIM_SECRET_FILE"] = str(claim_secret_file(data_folder))
    if service is GATEWAY:
        told["HTTP_PORT"] = str(own.http)
        for other in (REWRITER, EMBEDDER, RETRIEVER, RERANKER, INGESTION):
            ports = layout[other.name]
            told[f"{other.name.upper()}_TARGET"] = ports.address
            told[f"{other.name.upper()}_MANAGEMENT_TARGET"] = ports.management_address
    if service is INGESTION:
        told["DATA_FOLDER"] = str(data_folder / "originals")
        for other in (EMBEDDER, RETRIEVER):
            told[f"{other.name.upper()}_TARGET"] = layout[other.name].address
    if service is RETRIEVER or (service is EMBEDDER and KNOWN_VECTORS_VARIABLE not in inherited):
        told["DATA_FOLDER"] = str(data_folder / service.name)
    return {**inherited, **{service.prefix + name: value for name, value in told.items()}}
