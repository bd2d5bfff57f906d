"""Who may import what."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ("embedder_svc", "retriever_svc", "rewriter_svc", "reranker_svc", "gateway")
PLATFORM = ("chassis", "chat_models", "ranking_formula", "text_analysis")
CONTRACTS = tuple(
    f"justesse.{name}.v1" for name in ("embedder", "gateway", "reranker", "retriever", "rewriter")
)
GRPC = ("grpc", "grpc_health", "grpc_reflection", "grpc_status")
DOORS = {"servicer", "wire", "clients", "__main__"}


def source_files(*packages: str) -> list[Path]:
    """Lists the Python files of packages, as paths from the repository root."""
    return sorted(
        path.relative_to(ROOT) for package in packages for path in (ROOT / package).rglob("*.py")
    )


def imported_modules(source: str) -> Iterator[str]:
    """Yields the full name of every module that a source imports, also inside functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def belongs(module: str, packages: tuple[str, ...]) -> bool:
    """Tells whether a module is one of the packages or lies inside one."""
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def is_door(path: Path) -> bool:
    """Tells whether a file of a service may speak gRPC and the contracts."""
    return not DOORS.isdisjoint((*path.parts[:-1], path.stem))


def violations(path: Path, source: str) -> set[str]:
    """Names the imports of one file that its place forbids."""
    package = path.parts[0]
    modules = set(imported_modules(source))
    forbidden: set[str] = set()
    if package in SERVICES:
        others = tuple(name for name in SERVICES if name != package)
        forbidden |= {module for module in modules if belongs(module, others)}
        if not is_door(path):
            forbidden |= {module for module in modules if belongs(module, (*GRPC, "justesse"))}
    if package in PLATFORM:
        forbidden |= {module for module in modules if belongs(module, (*SERVICES, "justesse"))}
    if package in ("ranking_formula", "text_analysis"):
        others = (*GRPC, *(name for name in PLATFORM if name != package))
        forbidden |= {module for module in modules if belongs(module, others)}
    if package == "chat_models":
        forbidden |= {module for module in modules if belongs(module, GRPC)}
    if package == "chassis":
        others = ("chat_models", "ranking_formula", "text_analysis")
        forbidden |= {module for module in modules if belongs(module, others)}
    if package == "justesse":
        forbidden |= {module for module in modules if belongs(module, SERVICES)}
    if path != Path("chassis/vendor_http.py"):
        forbidden |= {module for module in modules if belongs(module, ("httpx",))}
    return forbidden


@pytest.mark.parametrize("path", source_files(*SERVICES, *PLATFORM, "justesse"), ids=str)
def test_imports_respect_the_layers(path: Path) -> None:
    """No file imports what its place in the house forbids."""
    assert violations(path, (ROOT / path).read_text()) == set()


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("embedder_svc/chain.py", "import grpc"),
        ("embedder_svc/chain.py", "from justesse.embedder.v1 import embedder_pb2"),
        ("gateway/pipeline.py", "def late():\n    import retriever_svc.engine"),
        ("gateway/clients/retriever.py", "from retriever_svc import engine"),
        ("chassis/server.py", "from justesse.gateway.v1 import search_pb2"),
        ("chassis/vendor_client.py", "from chat_models import chain"),
        ("chat_models/chain.py", "from rewriter_svc import rewriting"),
        ("chat_models/chain.py", "import grpc.aio"),
        ("text_analysis/tokens.py", "import chassis.errors"),
        ("ranking_formula/formula.py", "from reranker_svc import reranking"),
        ("ranking_formula/formula.py", "import text_analysis.tokens"),
        ("justesse/client/calls.py", "import gateway"),
        ("gateway/http/routes.py", "import httpx"),
    ],
)
def test_a_planted_violation_is_found(path: str, source: str) -> None:
    """The rule notices each kind of forbidden import."""
    assert violations(Path(path), source) != set()


def test_every_service_has_the_same_front_door() -> None:
    """Every service has a composition root, settings, a servicer and a wire module or package."""
    for service in SERVICES:
        names = {path.stem for path in (ROOT / service).iterdir()}
        assert {"__main__", "settings", "servicer", "wire"} <= names, service
