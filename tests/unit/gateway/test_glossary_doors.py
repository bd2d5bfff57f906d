"""Glossaries through both doors of the gateway, and on their way to the rewriter."""

from __future__ import annotations

import grpc.aio
import httpx
import pytest

from chassis.errors import Unavailable
from gateway.glossary.editing import MAX_ENTRIES
from gateway.glossary.entry import GlossaryEntry
from gateway.rewriting import ConversationRole, ConversationTurn
from justesse.gateway.v1 import glossary_pb2 as pb
from justesse.gateway.v1.glossary_pb2_grpc import GlossaryServiceStub
from tests.fakes.gateway_services.bench import Bench
from tests.fakes.gateway_services.grpc_door import refusal
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

URL = "/v1/workspaces/negoce/glossary"
BL = {"term": "BL", "synonyms": ["bon de livraison", "bordereau"]}
DEB = {"term": "DEB", "synonyms": ["déclaration"]}


async def put(http: httpx.AsyncClient, *entries: object, **options: object) -> httpx.Response:
    """Puts entries over HTTP."""
    return await http.put(URL, json={"entries": entries, **options})


async def test_entries_are_put_listed_and_deleted_over_http(http: httpx.AsyncClient) -> None:
    """Every answer names the version, which grows with each change."""
    first = await put(http, DEB, BL)
    second = await put(http, {"term": "bl", "synonyms": ["connaissement"]})
    listed = await http.get(URL)
    deleted = await http.delete(URL, params={"term": ["Bl", "inconnu"]})
    replaced = await put(http, BL, replace_all=True)

    assert first.json() == {
        "created_count": 2,
        "updated_count": 0,
        "deleted_count": 0,
        "entry_count": 2,
        "glossary_version": 1,
    }
    assert (second.json()["updated_count"], second.json()["glossary_version"]) == (1, 2)
    assert listed.json() == {
        "entries": [{"term": "bl", "synonyms": ["connaissement"]}, DEB],
        "next_page_token": "",
        "entry_count": 2,
        "glossary_version": 2,
    }
    assert deleted.json() == {
        "deleted_count": 1,
        "missing_terms": ["inconnu"],
        "glossary_version": 3,
    }
    assert (replaced.json()["created_count"], replaced.json()["deleted_count"]) == (1, 1)


async def test_entries_are_put_listed_and_deleted_over_grpc(channel: grpc.aio.Channel) -> None:
    """The same over the other door."""
    stub = GlossaryServiceStub(channel)
    entries = [pb.GlossaryEntry(term=term, synonyms=["mot"]) for term in ("a1", "b2", "c3")]
    put = await stub.PutGlossaryEntries(
        pb.PutGlossaryEntriesRequest(workspace="negoce", entries=entries)
    )
    page = await stub.ListGlossaryEntries(
        pb.ListGlossaryEntriesRequest(workspace="negoce", page_size=2)
    )
    rest = await stub.ListGlossaryEntries(
        pb.ListGlossaryEntriesRequest(workspace="negoce", page_token=page.next_page_token)
    )
    deleted = await stub.DeleteGlossaryEntries(
        pb.DeleteGlossaryEntriesRequest(workspace="negoce", terms=["a1", "z9"])
    )

    assert (put.created_count, put.entry_count, put.glossary_version) == (3, 3, 1)
    assert [*page.entries, *rest.entries] == entries
    assert (page.entry_count, len(page.entries), rest.next_page_token) == (3, 2, "")
    assert (deleted.deleted_count, list(deleted.missing_terms)) == (1, ["z9"])


async def test_texts_are_kept_in_one_form(http: httpx.AsyncClient) -> None:
    """NFC, single spaces, synonyms once and none blank."""
    synonyms = ["saison\t haute", "Saison haute", " ", "juillet"]
    await put(http, {"term": " e\u0301te\u0301 \n indien", "synonyms": synonyms})
    entries = (await http.get(URL)).json()["entries"]

    assert entries == [{"term": "été indien", "synonyms": ["saison haute", "juillet"]}]


@pytest.mark.parametrize(
    ("entry", "field", "message"),
    [
        ({"term": " ", "synonyms": ["a"]}, "entries[0].term", "blank"),
        ({"term": "x" * 101, "synonyms": ["a"]}, "entries[0].term", "101 characters, at most 100"),
        ({"term": "a\0b", "synonyms": ["a"]}, "entries[0].term", "control character"),
        ({"term": "de la", "synonyms": ["a"]}, "entries[0].term", "no word"),
        ({"term": "BL", "synonyms": []}, "entries[0].synonyms", "holds 0; expected 1 to 20"),
        (
            {"term": "BL", "synonyms": [f"s{n}" for n in range(21)]},
            "entries[0].synonyms",
            "holds 21",
        ),
        ({"term": "BL", "synonyms": ["x" * 101]}, "entries[0].synonyms", "101 characters"),
    ],
)
async def test_an_entry_that_cannot_be_one_is_refused(
    http: httpx.AsyncClient, entry: object, field: str, message: str
) -> None:
    """The answer says which field of which entry, with what value and what is expected."""
    answer = await put(http, entry)
    error = answer.json()["error"]

    assert answer.status_code == 400
    assert error["field_violations"][0]["field"] == field
    assert message in error["message"]
    assert (await http.get(URL)).json()["entry_count"] == 0


async def test_two_terms_that_are_one_to_the_search_are_refused(
    http: httpx.AsyncClient,
) -> None:
    """In one request, and beside an entry that is there; both are named, and nothing changes."""
    singular, plural = (
        {"term": term, "synonyms": ["document"]} for term in ("bon de livraison", "Bons livraisons")
    )
    together = await put(http, singular, plural)
    await put(http, singular)
    later = await put(http, DEB, plural)

    assert together.status_code == 400
    assert (
        "'Bons livraisons' is the same to the search as 'bon de livraison' of entries[0]"
        in (together.json()["error"]["message"])
    )
    assert (later.status_code, later.json()["error"]["reason"]) == (409, "GLOSSARY_TERM_EXISTS")
    assert "'bon de livraison', which is there" in later.json()["error"]["message"]
    assert (await http.get(URL)).json()["entries"] == [singular]


async def test_a_glossary_has_an_end(http: httpx.AsyncClient) -> None:
    """Too many at once, or beside those that are there, are refused with the number."""
    full = [{"term": f"t{number}", "synonyms": ["mot"]} for number in range(MAX_ENTRIES)]
    over = await put(http, *full, BL)
    fits = await put(http, *full)
    late = await put(http, BL)
    replacing = await put(http, full[0] | {"synonyms": ["autre"]})

    assert (over.status_code, fits.status_code, replacing.status_code) == (400, 200, 200)
    assert late.json()["error"]["reason"] == "GLOSSARY_FULL"
    assert "2001 entries, at most 2000" in late.json()["error"]["message"]


async def test_what_is_not_there_and_what_makes_no_sense_is_refused(
    http: httpx.AsyncClient, channel: grpc.aio.Channel
) -> None:
    """A workspace, a page and an empty request, each with a reason."""
    stub = GlossaryServiceStub(channel)
    status, error = await refusal(
        stub.PutGlossaryEntries(pb.PutGlossaryEntriesRequest(workspace="negoce"))
    )

    assert (await http.get("/v1/workspaces/inconnu/glossary")).status_code == 404
    assert (await http.get(URL, params={"page_token": "page two"})).status_code == 400
    assert (await http.get(URL, params={"page_size": 501})).status_code == 400
    assert (await http.delete(URL)).status_code == 400
    assert (status, error.reason) == ("INVALID_ARGUMENT", "INVALID_ARGUMENT")


async def test_a_lost_database_is_unavailable_for_changes_and_nothing_for_searches(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """Searches go on with the last good glossary, at status 200."""
    await put(http, BL)
    mesh.glossary_store.lost = True
    lost = await put(http, DEB)
    await mesh.glossaries.refresh()
    found = await http.post("/v1/search", json={"workspace": "negoce", "query": "le BL et la DEB"})

    assert (lost.status_code, lost.json()["error"]["reason"]) == (503, "DATABASE_LOST")
    assert found.status_code == 200
    assert [entry.term for entry in mesh.rewriter.glossaries[-1].entries] == ["BL"]


async def test_the_rewriter_gets_what_stands_in_question_and_history() -> None:
    """With the version of the glossary; the database is not asked."""
    bench = Bench()
    for _ in range(2):
        bench.glossary_store.put(
            "negoce",
            *(GlossaryEntry(term, (f"mot de {term}",)) for term in ("BL", "DEB", "SKU")),
        )
    await bench.glossaries.refresh()
    reads = bench.glossary_store.reads
    history = (ConversationTurn(ConversationRole.USER, "Où est la DEB ?"),)

    await bench.ask("et mon bl ?", history=history)

    sent = bench.rewriter.glossaries[0]
    assert [entry.term for entry in sent.entries] == ["BL", "DEB"]
    assert sent.entries[0].synonyms == ("mot de BL",)
    assert sent.version == 2
    assert bench.glossary_store.reads == reads


async def test_a_glossary_goes_with_its_workspace(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """Another workspace of that slug begins without entries, and with a greater version."""
    await put(http, BL)
    await http.delete("/v1/workspaces/negoce")
    await http.post("/v1/workspaces", json={"slug": "negoce"})
    listed = (await http.get(URL)).json()

    assert (listed["entries"], mesh.glossaries.matching("negoce", "fr", "BL").entries) == ([], ())
    assert listed["glossary_version"] > 1


async def test_a_workspace_whose_glossary_cannot_be_deleted_stays(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """Deleting it again, once the database is back, deletes both."""
    await put(http, BL)
    mesh.glossary_store.lost = True
    refused = await http.delete("/v1/workspaces/negoce")
    mesh.glossary_store.lost = False
    listed = await http.get(URL)
    again = await http.delete("/v1/workspaces/negoce")

    assert refused.status_code == 503
    assert listed.json()["entries"] == [BL]
    assert again.status_code == 200


async def test_a_lost_retriever_is_told_before_a_glossary_is_touched(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """Neither a change nor a deletion of the workspace reaches the glossary."""
    await put(http, BL)
    mesh.retriever.behaviour.error = Unavailable("the retriever cannot be reached")

    assert (await put(http, DEB)).status_code == 503
    assert (await http.delete("/v1/workspaces/negoce")).status_code == 503
    assert mesh.glossary_store.glossaries["negoce"].version == 1
