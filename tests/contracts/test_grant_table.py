"""The table of grants names every RPC and every route, and nothing else."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor, MethodDescriptor
from grpc_reflection.v1alpha import reflection
from starlette.routing import Route, compile_path

import justesse.gateway.v1 as contract
from chassis.metrics import Metrics
from gateway.access.access import Access
from gateway.access.needs import BODY, ROUTE_NEEDS, RPC_NEEDS, Reach
from gateway.http.access import RouteGuard, templates_of
from gateway.http.app import http_door, routed
from gateway.servicer.served import served_services
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.gateway_services.switch_database import SwitchDatabase


@pytest.fixture
def mesh(tmp_path: Path) -> MeshOfFakes:
    """The application over fakes."""
    return MeshOfFakes(SwitchDatabase(tmp_path / "gateway.sqlite"))


def methods() -> list[MethodDescriptor]:
    """Returns every RPC of the gateway's contract."""
    found: list[MethodDescriptor] = []
    for file in sorted(Path(contract.__path__[0]).glob("*_pb2.py")):
        module = importlib.import_module(f"justesse.gateway.v1.{file.stem}")
        for service in module.DESCRIPTOR.services_by_name.values():
            found += service.methods
    return found


def test_every_rpc_has_its_grant() -> None:
    """An RPC that is added without a thought of who may call it fails here."""
    named = {f"{m.containing_service.full_name}/{m.name}" for m in methods()}

    assert named
    assert named == {name for name in RPC_NEEDS if name.startswith("justesse.")}
    assert {name.partition("/")[0] for name in RPC_NEEDS.keys() - named} == {
        reflection.SERVICE_NAME
    }


def test_every_service_served_is_in_the_table(mesh: MeshOfFakes) -> None:
    """Also one of another package."""
    services = {name.partition("/")[0] for name in RPC_NEEDS}

    assert {service.name for service in served_services(mesh.application())} <= services


@pytest.mark.parametrize("method", methods(), ids=lambda method: str(method.full_name))
def test_the_workspace_is_read_where_the_message_has_it(method: MethodDescriptor) -> None:
    """A message that names a workspace is checked by it; one that names none is checked whole."""
    need = RPC_NEEDS[f"{method.containing_service.full_name}/{method.name}"]
    places = {path for path in text_fields(method.input_type) if path.split(".")[-1] in NAMES}

    assert places == ({need.place} if need.reach is Reach.WORKSPACE else set())


NAMES = ("workspace", "slug")


def text_fields(message: Descriptor, depth: int = 2) -> Iterator[str]:
    """Yields the single text fields of a message and of those within it, with dots."""
    for field in message.fields:
        if field.is_repeated:
            continue
        if field.type == field.TYPE_STRING:
            yield field.name
        elif field.message_type is not None and depth > 1:
            yield from (f"{field.name}.{f}" for f in text_fields(field.message_type, depth - 1))


def test_every_route_has_its_grant(mesh: MeshOfFakes) -> None:
    """Those of files and of the documentation too; the table names no other."""
    served = set(templates_of(routed(mesh.application()).routes))

    assert ("POST", "/v1/search") in served
    assert served == set(ROUTE_NEEDS)


def test_a_route_without_a_grant_stops_the_start(mesh: MeshOfFakes) -> None:
    """Nobody would be let in to it, which is better heard of at once."""
    forgotten = Route("/v1/forgotten", lambda _: None, methods=["POST"])

    with pytest.raises(LookupError, match=r"POST.*/v1/forgotten"):
        RouteGuard(Access(None), [forgotten])
    http_door(mesh.application(), Metrics())


def test_no_path_fits_two_templates() -> None:
    """The guard finds a route by the table alone; it must be the one that is served."""
    paths = {
        key: compile_path(key[1])[1].format(
            slug="s-l", job_id="j", key="k", prefix="p", external_id="a/b.md", path="swagger.css"
        )
        for key in ROUTE_NEEDS
    }

    for one, other in combinations(ROUTE_NEEDS, 2):
        if one[0] == other[0]:
            assert compile_path(one[1])[0].match(paths[other]) is None
            assert compile_path(other[1])[0].match(paths[one]) is None


@pytest.mark.parametrize("route", list(ROUTE_NEEDS), ids=" ".join)
def test_a_route_says_where_its_workspace_is(route: tuple[str, str]) -> None:
    """In its path, its query or its body; what it names must be there."""
    place = ROUTE_NEEDS[route].place
    kind, _, name = place.partition(" ")

    if ROUTE_NEEDS[route].reach is not Reach.WORKSPACE:
        assert place == ""
    elif kind == "path":
        assert f"{{{name}}}" in route[1]
    else:
        assert place == BODY or (kind, name) == ("query", "workspace")
