"""The checked-in contracts are what the .proto files say, and run on the promised versions."""

import filecmp
import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from google.protobuf.descriptor import FileDescriptor

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = ("embedder", "gateway", "reranker", "retriever", "rewriter")
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for contract in CONTRACTS
    for path in (ROOT / "justesse" / contract).rglob("*_pb2.py")
)


def generated_files(root: Path) -> dict[str, Path]:
    """Lists the generated files below `root` by their path from there."""
    return {
        str(path.relative_to(root)): path
        for contract in CONTRACTS
        for path in (root / "justesse" / contract).rglob("*.py*")
        if path.suffix in {".py", ".pyi"}
    }


def file_descriptor(module: str) -> FileDescriptor:
    """Loads the descriptor of one generated module."""
    descriptor = importlib.import_module(module).DESCRIPTOR
    assert isinstance(descriptor, FileDescriptor)
    return descriptor


def test_generating_again_changes_nothing(tmp_path: Path) -> None:
    """The checked-in code equals what the generator makes of today's .proto files."""
    subprocess.run(
        [sys.executable, str(ROOT / "protos" / "generate.py"), str(tmp_path)],
        check=True,
        capture_output=True,
    )
    fresh, checked_in = generated_files(tmp_path), generated_files(ROOT)

    assert sorted(fresh) == sorted(checked_in)
    different = [
        name for name in fresh if not filecmp.cmp(fresh[name], checked_in[name], shallow=False)
    ]
    assert different == []


def test_dependency_floors_equal_the_generator_versions() -> None:
    """The oldest allowed grpcio and protobuf are those that the generated code asks for."""
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    floors = {
        match[1]: match[2]
        for match in (re.match(r"(grpcio|protobuf)>=([\d.]+)", line) for line in dependencies)
        if match
    }
    service = (ROOT / "justesse/embedder/v1/embedder_pb2_grpc.py").read_text()
    messages = (ROOT / "justesse/embedder/v1/embedder_pb2.py").read_text()
    grpc_version = re.search(r"GRPC_GENERATED_VERSION = '([\d.]+)\.0'", service)
    protobuf_version = re.search(r"Protobuf Python Version: ([\d.]+)", messages)

    assert grpc_version is not None
    assert protobuf_version is not None
    assert floors == {"grpcio": grpc_version[1], "protobuf": protobuf_version[1]}


def test_stage_reports_have_equal_fields_in_all_contracts() -> None:
    """Every contract's StageReport has the same fields; the gateway's also names the stage."""
    reports = {
        module: {
            field.number: (field.name, field.type)
            for field in file_descriptor(module).message_types_by_name["StageReport"].fields
        }
        for module in MODULES
        if "StageReport" in file_descriptor(module).message_types_by_name
    }
    gateway = reports.pop("justesse.gateway.v1.search_pb2")

    assert sorted(reports) == [
        "justesse.embedder.v1.embedder_pb2",
        "justesse.reranker.v1.reranker_pb2",
        "justesse.retriever.v1.search_pb2",
        "justesse.rewriter.v1.rewriter_pb2",
    ]
    assert all(fields.items() < gateway.items() for fields in reports.values())
    assert len({tuple(sorted(fields.items())) for fields in reports.values()}) == 1
    assert {name for name, _ in gateway.values()} - {
        name for name, _ in next(iter(reports.values())).values()
    } == {"stage"}


@pytest.mark.parametrize("module", MODULES)
def test_enumerations_equal_across_contracts_of_one_name(module: str) -> None:
    """An enumeration that several contracts repeat has the same values everywhere."""
    own = file_descriptor(module).enum_types_by_name
    for other in MODULES:
        for name, enum in file_descriptor(other).enum_types_by_name.items():
            if name in own:
                assert [(v.name, v.number) for v in enum.values] == [
                    (v.name, v.number) for v in own[name].values
                ]
