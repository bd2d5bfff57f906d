"""What the overlays render to is what Kubernetes takes, and what the code says."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml

from chassis.server_settings import ServerSettings
from chassis.settings import read_settings
from tests.contracts.test_manifests import MODULES, SETTINGS

K8S = Path(__file__).resolve().parents[2] / "k8s"
OVERLAYS = ("local", "production", "scaled")
VERSION = "1.31"
# Of operators, which bring their own schemas.
FOREIGN = {
    ("cert-manager.io/v1", "Certificate"),
    ("cert-manager.io/v1", "Issuer"),
    ("monitoring.coreos.com/v1", "PrometheusRule"),
    ("monitoring.coreos.com/v1", "ServiceMonitor"),
}
KUBECTL = shutil.which("kubectl")

pytestmark = pytest.mark.skipif(KUBECTL is None, reason="kubectl renders the overlays")


@cache
def rendered(overlay: str) -> tuple[dict[str, Any], ...]:
    """Returns every resource of an overlay."""
    command = [str(KUBECTL), "kustomize", str(K8S / "overlays" / overlay)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return tuple(yaml.safe_load_all(done.stdout))


def of_kind(overlay: str, *kinds: str) -> list[dict[str, Any]]:
    """Returns the resources of some kinds."""
    return [each for each in rendered(overlay) if each["kind"] in kinds]


def pods(overlay: str) -> list[tuple[str, dict[str, Any]]]:
    """Returns the pods of all workloads by name."""
    return [
        (each["metadata"]["name"], each["spec"]["template"]["spec"])
        for each in of_kind(overlay, "Deployment", "StatefulSet")
    ]


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns all containers of a pod, those that come first too."""
    return [*pod.get("initContainers", ()), *pod["containers"]]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_kubernetes_takes_every_resource(overlay: str) -> None:
    """By the published schemas, without an unknown field; other kinds are those of the list."""
    for resource in rendered(overlay):
        kind = resource["apiVersion"], resource["kind"]
        if kind not in FOREIGN:
            kubernetes_validate.validate(resource, VERSION, strict=True)
    names = [(each["kind"], each["metadata"]["name"]) for each in rendered(overlay)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_variable_is_a_setting(overlay: str, tmp_path: Path) -> None:
    """With the values that the overlay gives; files are there once their Secrets are mounted."""
    url, token = tmp_path / "url", tmp_path / "token"
    url.write_text("postgresql+psycopg://user@host/name")
    token.write_text("user:password")
    mounted = {"/database/url": url, "/store/url": url, "/milvus/token": token}
    assert {name for name, _ in pods(overlay)} == set(SETTINGS)
    for name, pod in pods(overlay):
        for container in containers(pod):
            environment = {
                item["name"]: str(mounted.get(item["value"], item["value"]))
                for item in container["env"]
            }
            settings: ServerSettings = read_settings(SETTINGS[name], environment)
            assert container["command"][-1] in {MODULES[name], "gateway.database"}
            if container["command"][-1] == MODULES[name]:
                grace = pod["terminationGracePeriodSeconds"]
                command, before_s = container["lifecycle"]["preStop"]["exec"]["command"]
                assert (command, int(before_s) > 0) == ("sleep", True)
                assert grace > int(before_s) + settings.drain_pause_s + settings.drain_grace_s


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_files_of_variables_lie_on_mounted_secrets(overlay: str) -> None:
    """A file that no volume brings would stop the start."""
    for _, pod in pods(overlay):
        secrets = {each["name"] for each in pod["volumes"] if "secret" in each}
        for container in containers(pod):
            folders = {
                mount["mountPath"]
                for mount in container["volumeMounts"]
                if mount["name"] in secrets and mount["readOnly"]
            }
            for item in container["env"]:
                if item["name"].endswith("_FILE"):
                    assert str(Path(item["value"]).parent) in folders, item["name"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_container_is_restricted_and_bounded(overlay: str) -> None:
    """No root, no privileges, no writable root, a memory limit, an image with a tag, no token."""
    for _, pod in pods(overlay):
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["automountServiceAccountToken"] is False
        for container in containers(pod):
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True
            assert context["allowPrivilegeEscalation"] is False
            assert context["capabilities"] == {"drop": ["ALL"]}
            assert container["resources"]["limits"]["memory"]
            assert ":" in container["image"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_nothing_is_reached_but_what_is_listed(overlay: str) -> None:
    """All is denied first; the ports of the policies are those of the services they lead to."""
    policies = {
        each["metadata"]["name"]: each["spec"] for each in of_kind(overlay, "NetworkPolicy")
    }
    assert policies["justesse-default-deny"]["policyTypes"] == ["Ingress", "Egress"]
    assert "ingress" not in policies["justesse-default-deny"]
    ports = {
        port["port"]
        for service in of_kind(overlay, "Service")
        for port in service["spec"]["ports"]
        if service["metadata"]["name"] != "gateway" and port["name"] in {"grpc", "management"}
    }
    (calls,) = policies["justesse-gateway-calls"]["egress"]
    assert {each["port"] for each in calls["ports"]} == ports


def test_services_trust_no_network_in_production() -> None:
    """Each shows a certificate to the others, for the name it is dialled by; callers need keys."""
    certificates = {
        each["spec"]["secretName"]: each["spec"]["dnsNames"]
        for each in of_kind("production", "Certificate")
        if "dnsNames" in each["spec"]
    }
    for name, pod in pods("production"):
        (container,) = pod["containers"]
        environment = {item["name"]: item["value"] for item in container["env"]}
        prefix = f"JUSTESSE_{name.upper()}"
        assert environment[f"{prefix}_INSECURE"] == "false"
        assert environment[f"{prefix}_MESH_CERTIFICATE_FILE"] == "/mesh/tls.crt"
        (mounted,) = (
            each["secret"]["secretName"] for each in pod["volumes"] if each["name"] == "mesh"
        )
        assert certificates[mounted] == [name]
        if name == "gateway":
            assert environment[f"{prefix}_ACCESS"] == "keys"


def test_what_scales_says_no_number_of_pods_in_production() -> None:
    """Applying the overlay again must not undo what the autoscaler did; nothing else is doubled."""
    scaled = {
        each["spec"]["scaleTargetRef"]["name"]
        for each in of_kind("production", "HorizontalPodAutoscaler")
    }
    replicas = {
        each["metadata"]["name"]: each["spec"].get("replicas")
        for each in of_kind("production", "Deployment", "StatefulSet")
    }
    assert scaled == {"embedder", "gateway", "reranker", "rewriter"}
    assert {name for name, count in replicas.items() if count is None} == scaled
    assert (replicas["retriever"], replicas["ingestion"]) == (1, 1)
    budgets = {each["metadata"]["name"] for each in of_kind("production", "PodDisruptionBudget")}
    assert budgets == set(SETTINGS)


def test_scaled_retrievers_keep_nothing() -> None:
    """Several pods of a Deployment without a volume of their own, spread, one leaving at a time."""
    (retriever,) = [
        each for each in of_kind("scaled", "Deployment") if each["metadata"]["name"] == "retriever"
    ]
    pod = retriever["spec"]["template"]["spec"]
    assert not of_kind("scaled", "StatefulSet")
    assert "replicas" not in retriever["spec"]
    assert retriever["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert not any("persistentVolumeClaim" in volume for volume in pod["volumes"])
    assert pod["topologySpreadConstraints"]
    (autoscaler,) = [
        each
        for each in of_kind("scaled", "HorizontalPodAutoscaler")
        if each["spec"]["scaleTargetRef"]["name"] == "retriever"
    ]
    assert autoscaler["spec"]["minReplicas"] >= 2
    budgets = {each["metadata"]["name"] for each in of_kind("scaled", "PodDisruptionBudget")}
    assert "retriever" in budgets


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_callers_see_every_pod_and_find_new_ones(overlay: str) -> None:
    """Services that are called inside are headless, and servers end connections after a while, so
    that round robin reaches pods that came later."""
    for service in of_kind(overlay, "Service"):
        if service["metadata"]["name"] != "gateway":
            assert service["spec"]["clusterIP"] == "None"
    for name, pod in pods(overlay):
        for container in pod["containers"]:
            variables = {item["name"] for item in container["env"]}
            assert f"JUSTESSE_{name.upper()}_MAX_CONNECTION_AGE_S" not in variables
    assert ServerSettings().max_connection_age_s is not None


@pytest.mark.parametrize("overlay", ["production", "scaled"])
def test_what_is_run_for_others_is_watched(overlay: str) -> None:
    """With the alerts, and a dashboard under the label by which Grafana's sidecar finds it."""
    assert of_kind(overlay, "ServiceMonitor")
    (rules,) = of_kind(overlay, "PrometheusRule")
    (dashboard,) = [
        each
        for each in of_kind(overlay, "ConfigMap")
        if each["metadata"].get("labels", {}).get("grafana_dashboard") == "1"
    ]
    assert rules["spec"]["groups"]
    assert json.loads(dashboard["data"]["justesse.json"])["panels"]
