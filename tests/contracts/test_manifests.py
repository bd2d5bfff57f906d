"""The Kubernetes manifests say what the code says."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from chassis.server import ServerSettings
from chassis.settings import read_settings
from embedder_svc.settings import EmbedderSettings
from gateway.ingestion.settings import IngestionSettings
from gateway.settings import GatewaySettings
from reranker_svc.settings import RerankerSettings
from retriever_svc.settings import RetrieverSettings
from rewriter_svc.settings import RewriterSettings

BASE = Path(__file__).resolve().parents[2] / "k8s" / "base"
SETTINGS: dict[str, type[Any]] = {
    "embedder": EmbedderSettings,
    "gateway": GatewaySettings,
    "ingestion": IngestionSettings,
    "reranker": RerankerSettings,
    "retriever": RetrieverSettings,
    "rewriter": RewriterSettings,
}
MODULES = {
    "embedder": "embedder_svc",
    "gateway": "gateway",
    "ingestion": "gateway.ingestion",
    "reranker": "reranker_svc",
    "retriever": "retriever_svc",
    "rewriter": "rewriter_svc",
}


def documents(name: str) -> list[dict[str, Any]]:
    """Reads the manifests of one service."""
    return list(yaml.safe_load_all((BASE / f"{name}.yaml").read_text()))


def pod_of(name: str) -> dict[str, Any]:
    """Returns the pod specification of one service."""
    workload = next(
        item for item in documents(name) if item["kind"] in {"Deployment", "StatefulSet"}
    )
    pod = workload["spec"]["template"]["spec"]
    assert isinstance(pod, dict)
    return pod


def container_of(name: str) -> dict[str, Any]:
    """Returns the only container of one service."""
    (container,) = pod_of(name)["containers"]
    assert isinstance(container, dict)
    return container


def settings_of(name: str) -> ServerSettings:
    """Reads the settings that the manifest's variables give; a mistake raises."""
    environment = {item["name"]: item["value"] for item in container_of(name)["env"]}
    settings: ServerSettings = read_settings(SETTINGS[name], environment)
    return settings


def test_every_process_has_a_manifest_that_is_listed() -> None:
    """Kustomize renders one file for each process."""
    listed = yaml.safe_load((BASE / "kustomization.yaml").read_text())["resources"]

    assert set(listed) >= {f"{name}.yaml" for name in SETTINGS}
    assert set(listed) == {path.name for path in BASE.glob("*.yaml")} - {"kustomization.yaml"}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_variables_are_settings_and_the_ports_agree(name: str) -> None:
    """Every variable is one the process knows, and it listens where the manifest says."""
    settings = settings_of(name)
    container = container_of(name)
    ports = {item["name"]: item["containerPort"] for item in container["ports"]}
    service = next(item for item in documents(name) if item["kind"] == "Service")

    assert container["command"] == ["python", "-m", MODULES[name]]
    assert ports["grpc"] == settings.port
    assert ports["management"] == settings.management_port
    assert ports["metrics"] == settings.metrics_port
    assert ports.get("http") == getattr(settings, "http_port", None)
    assert {item["name"]: item["port"] for item in service["spec"]["ports"]} == ports


@pytest.mark.parametrize("name", SETTINGS)
def test_probes_ask_the_management_port_under_separate_names(name: str) -> None:
    """Readiness and liveness are different names, so that a loading service is not killed."""
    container = container_of(name)
    probes = {
        kind: (container[kind]["grpc"]["port"], container[kind]["grpc"]["service"])
        for kind in ("startupProbe", "readinessProbe", "livenessProbe")
    }
    port = settings_of(name).management_port

    assert probes == {
        "startupProbe": (port, "readiness"),
        "readinessProbe": (port, "readiness"),
        "livenessProbe": (port, "liveness"),
    }


@pytest.mark.parametrize("name", SETTINGS)
def test_a_pod_outlives_its_drain(name: str) -> None:
    """The grace of the pod is longer than pause and grace of the drain; the pause is longer than
    a probe period."""
    settings = settings_of(name)
    grace = pod_of(name)["terminationGracePeriodSeconds"]

    assert grace > settings.drain_pause_s + settings.drain_grace_s
    assert settings.drain_pause_s > container_of(name)["readinessProbe"]["periodSeconds"]


@pytest.mark.parametrize("name", SETTINGS)
def test_containers_are_restricted(name: str) -> None:
    """No root, no privileges, no writable root, a memory limit, no token of the cluster."""
    pod, container = pod_of(name), container_of(name)

    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["limits"]["memory"]


def test_the_embedder_writes_to_a_volume_of_its_pod() -> None:
    """A container that is started again still knows what was paid today; the root is read-only."""
    settings = settings_of("embedder")
    assert isinstance(settings, EmbedderSettings)
    mounts = {
        mount["mountPath"]: mount["name"] for mount in container_of("embedder")["volumeMounts"]
    }
    volumes = {volume["name"]: volume for volume in pod_of("embedder")["volumes"]}

    assert "emptyDir" in volumes[mounts[str(settings.data_folder)]]
