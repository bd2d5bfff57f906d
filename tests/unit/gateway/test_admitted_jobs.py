"""Files of jobs come in as far as there are places for uploads; what is queued takes none."""

from __future__ import annotations

import httpx

from chassis.metrics import Metrics
from gateway.admission.admission import Admission, AdmissionLimits
from gateway.http.app import http_door
from justesse.gateway.v1 import ingestion_pb2, jobs_pb2, jobs_pb2_grpc
from tests.fakes.gateway_services.grpc_door import grpc_door, refusal
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

JOBS = "/v1/workspaces/negoce/jobs"


def submitted(*names: str) -> list[jobs_pb2.SubmitDocumentsRequest]:
    """Returns the messages of a submission."""
    messages = []
    for name in names:
        header = ingestion_pb2.IngestionHeader(workspace="negoce", file_name=name)
        messages += [
            jobs_pb2.SubmitDocumentsRequest(header=header),
            jobs_pb2.SubmitDocumentsRequest(content=name.encode()),
        ]
    return messages


async def test_submissions_hold_places_of_uploads_at_both_doors(mesh: MeshOfFakes) -> None:
    """Where none is free they are told when to come again, and nothing is taken; looking at jobs
    goes on. With a place every file arrives whole, and the place is given back."""
    mesh.ingestion_places = places = Admission(AdmissionLimits(1, 0, 2.0))
    transport = httpx.ASGITransport(http_door(mesh.application(), Metrics()))
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://gateway.test") as http,
        grpc_door(mesh) as channel,
    ):
        stub = jobs_pb2_grpc.JobServiceStub(channel)
        form = {"file": ("n.md", b"text")}
        async with places.place_for("other"):
            status, error = await refusal(stub.SubmitDocuments(iter(submitted("a.md"))))
            answer = await http.post(JOBS, files=form)
            listed = await http.get(JOBS)
        untouched = list(mesh.jobs.taken)
        await stub.SubmitDocuments(iter(submitted("a.md", "b.md")))
        accepted = await http.post(JOBS, files=form)

    assert (status, error.reason) == ("RESOURCE_EXHAUSTED", "OVERLOADED")
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "2")
    assert listed.status_code == 200
    assert untouched == []
    assert accepted.status_code == 202
    taken = [(file.file_name, content) for file, content in mesh.jobs.taken]
    assert taken == [("a.md", b"a.md"), ("b.md", b"b.md"), ("n.md", b"text")]
