"""The image and the composition say what the code says, and give away no more than they must."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from chassis.server_settings import ServerSettings
from chassis.settings import read_settings
from tests.contracts.test_manifests import MODULES, SETTINGS

ROOT = Path(__file__).resolve().parents[2]
COMPOSITION: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSITION["services"]
HADOLINT = shutil.which("hadolint", path=Path(sys.executable).parent)


def settings_of(name: str) -> ServerSettings:
    """Reads the settings that a service of the composition is given; a mistake raises."""
    settings: ServerSettings = read_settings(SETTINGS[name], SERVICES[name]["environment"])
    return settings


@pytest.mark.skipif(HADOLINT is None, reason="there is no hadolint for this platform")
def test_the_linter_finds_nothing_in_the_dockerfile() -> None:
    """Not even a remark."""
    command = [str(HADOLINT), "--no-color", str(ROOT / "Dockerfile")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_holds_every_package_that_is_installed() -> None:
    """What the Dockerfile copies is in the build's context, and is all that the project has."""
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = {
        line.split()[1] for line in lines if line.startswith("COPY ") and "--from" not in line
    }
    context = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    packages = {
        path.parent.name
        for path in ROOT.glob("*/__init__.py")
        if path.parent.name not in {"tests", "benchmarks", "demo"}
    }
    assert packages <= copied
    assert {name for name in copied if "." not in name} <= context
    assert "USER 65534:65534" in lines


def test_the_composition_runs_every_process() -> None:
    """By the image's argument, each under its own name, all of one image."""
    assert {name: service["command"] for name, service in SERVICES.items()} == {
        name: [module] for name, module in MODULES.items()
    }
    assert {service["image"] for service in SERVICES.values()} == {"justesse"}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_variable_of_the_composition_is_a_setting(name: str) -> None:
    """Processes listen where others look for them, and outlive their drain."""
    settings = settings_of(name)
    grace = SERVICES[name]["stop_grace_period"].removesuffix("s")
    assert float(grace) > settings.drain_pause_s + settings.drain_grace_s
    assert SERVICES[name]["healthcheck"]["test"][-1] == str(settings.management_port)
    for caller in SERVICES.values():
        for variable, value in caller["environment"].items():
            if variable.endswith(f"_{name.upper()}_TARGET"):
                assert value == f"dns:///{name}:{settings.port}"
            if variable.endswith(f"_{name.upper()}_MANAGEMENT_TARGET"):
                assert value == f"dns:///{name}:{settings.management_port}"


@pytest.mark.parametrize("name", SETTINGS)
def test_services_of_the_composition_may_do_no_more_than_they_need(name: str) -> None:
    """No writable root, no capabilities, bounded memory; only the gateway is reached from outside,
    on this machine's loopback, and it asks for keys."""
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"]
    published = service.get("ports", [])
    if name != "gateway":
        assert published == []
    else:
        assert published == ["127.0.0.1:50050:50050", "127.0.0.1:8080:8080"]
        assert "JUSTESSE_GATEWAY_INSECURE" not in service["environment"]
    assert "mesh" in service["networks"]
    assert COMPOSITION["networks"]["mesh"]["internal"] is True


def test_secrets_of_the_composition_are_files() -> None:
    """Each is mounted where a variable says, and none stands in a variable."""
    for service in SERVICES.values():
        named = {
            Path(value).name
            for value in service["environment"].values()
            if value.startswith("/run/secrets/")
        }
        assert named == set(service.get("secrets", []))
        assert named <= set(COMPOSITION["secrets"])
        assert set(volume.partition(":")[0] for volume in service.get("volumes", [])) <= set(
            COMPOSITION["volumes"]
        )
