"""A question goes through all processes and comes back with the right passage."""

import re

import grpc
import pytest

from justesse.client import AnswerOrigin, Justesse
from justesse.gateway.v1 import filters_pb2, glossary_pb2, ingestion_pb2, search_pb2, workspaces_pb2
from tests.mesh.caller import Caller, details_of, found, outcomes
from tests.mesh.conftest import DOCUMENTS, WORKSPACE
from tests.mesh.processes import Mesh

pytestmark = pytest.mark.mesh


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("Comment se passe un retour de marchandise ?", "retours.md"),
        ("Qui paie les surestaries d'un conteneur ?", "surestaries.md"),
        ("Où en est BL-2024-117 ?", "expeditions.md"),
    ],
)
def test_the_right_passage_leads(caller: Caller, query: str, document: str) -> None:
    """The best hit comes from the document that answers."""
    answer = caller.search(WORKSPACE, query)

    assert answer.hits[0].source.external_id == document


def test_every_stage_reports(caller: Caller) -> None:
    """Without a chat model, rewriting is skipped and says so; every other stage ran."""
    answer = caller.search(WORKSPACE, "franchise de surestaries au terminal")
    reasons = {stage.stage: stage.reason for stage in answer.receipt.stages}

    assert outcomes(answer) == {
        "rewrite": "SKIPPED",
        "embed": "RAN",
        "search": "RAN",
        "rerank": "RAN",
    }
    assert reasons["rewrite"] == "NOT_CONFIGURED"
    assert not answer.receipt.degraded
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", answer.receipt.request_id)
    assert answer.receipt.latency_ms > 0


def test_hits_carry_the_rank_and_score_of_every_stage(caller: Caller) -> None:
    """The best hit shows its lists, its fused rank, its scores and its place after reranking."""
    answer = caller.search(WORKSPACE, "surestaries au terminal", limit=2)
    scores = answer.hits[0].scores

    assert [hit.rank for hit in answer.hits] == [1, 2]
    assert {rank.list_name for rank in scores.list_ranks} >= {"bm25"}
    assert len({rank.list_name for rank in scores.list_ranks}) == 2
    assert scores.fused_rank >= 1
    assert scores.rerank_rank == 1
    assert -1 <= scores.space_scores[0].cosine <= 1
    assert scores.bm25_score > 0


def test_windows_refine_the_score_of_longer_passages(caller: Caller) -> None:
    """A passage of more than two sentences has them; a shorter one is its own window."""
    caller.create_workspace("fenetres")
    long = "Le quai est plein. Il pleut. L'entrepôt contrôle les cartons. Le navire attend."
    caller.ingest("fenetres", "long.txt", long.encode())
    caller.ingest("fenetres", "court.txt", b"Les cartons attendent. Il pleut.")

    answer = caller.search("fenetres", "L'entrepôt contrôle les cartons.")
    scores = {hit.source.external_id: hit.scores.space_scores[0] for hit in answer.hits}

    assert scores["long.txt"].best_window_cosine > scores["long.txt"].cosine
    assert not scores["court.txt"].HasField("best_window_cosine")


def test_parts_are_found_and_bring_the_block_they_are_a_part_of(caller: Caller) -> None:
    """The workspace searches parts; whoever asks gets the whole block beside the part."""
    settings = workspaces_pb2.WorkspaceSettings(child_token_count=32)
    caller.workspaces.CreateWorkspace(
        workspaces_pb2.CreateWorkspaceRequest(slug="parties", settings=settings), timeout=30
    )
    text = "\n\n".join(f"Alinéa {n} sur les quais et les navires du port." for n in range(8))
    caller.ingest("parties", "port.md", f"# Port\n\n{text}\n\nLa grue tourne.".encode())
    request = search_pb2.SearchPassagesRequest(
        workspace="parties", query="la grue tourne", limit=1, include_parents=True
    )
    hit = caller.searches.SearchPassages(request, timeout=30).hits[0]
    request.include_parents = False
    bare = caller.searches.SearchPassages(request, timeout=30).hits[0]

    assert "La grue tourne." in hit.text
    assert "Alinéa 0" not in hit.text
    assert hit.parent.text == f"# Port\n\n{text}\n\nLa grue tourne."
    assert (hit.parent.first_chunk_index, hit.parent.passage_count > 2) == (0, True)
    assert not bare.HasField("parent")


def test_a_glossary_entry_finds_what_the_question_does_not_say(caller: Caller) -> None:
    """Without a chat model, as soon as the entry is there, and until it is deleted."""
    caller.create_workspace("lexique")
    caller.ingest("lexique", "livraisons.md", b"Le bordereau accompagne chaque palette.")
    caller.ingest("lexique", "retours.md", b"Un avoir suit chaque retour.")

    def by_words() -> tuple[str, list[str]]:
        answer = caller.search("lexique", "Que dit le CMR ?")
        lists = {
            hit.source.external_id: [rank.list_name for rank in hit.scores.list_ranks]
            for hit in answer.hits
        }
        return outcomes(answer)["rewrite"], [name for name in lists if "bm25" in lists[name]]

    before = by_words()
    entry = glossary_pb2.GlossaryEntry(term="CMR", synonyms=["bordereau"])
    put = glossary_pb2.PutGlossaryEntriesRequest(workspace="lexique", entries=[entry])
    caller.glossary.PutGlossaryEntries(put, timeout=30)
    with_entry = by_words()
    delete = glossary_pb2.DeleteGlossaryEntriesRequest(workspace="lexique", terms=["cmr"])
    caller.glossary.DeleteGlossaryEntries(delete, timeout=30)

    assert before == ("SKIPPED", [])
    assert with_entry == ("RAN", ["livraisons.md"])
    assert by_words() == before


def test_a_document_is_cut_anew_and_its_file_goes_with_it(caller: Caller) -> None:
    """By another profile, without an upload; after the deletion nothing is left to cut."""
    caller.create_workspace("decoupe")
    caller.ingest("decoupe", "port.md", b"# Port\n\nLe quai est plein.")
    update = workspaces_pb2.UpdateWorkspaceRequest(slug="decoupe", chunking_profile="words")
    caller.workspaces.UpdateWorkspace(update, timeout=30)
    request = ingestion_pb2.RechunkDocumentRequest(workspace="decoupe", external_id="port.md")
    cut_anew = caller.ingestion.RechunkDocument(request, timeout=30).result
    again = caller.ingestion.RechunkDocument(request, timeout=30).result
    hit = caller.search("decoupe", "quai").hits[0]
    deleted = caller.delete_document("decoupe", "port.md")
    with pytest.raises(grpc.RpcError) as gone:
        caller.ingestion.RechunkDocument(request, timeout=30)

    assert cut_anew.outcome == ingestion_pb2.INGESTION_OUTCOME_REPLACED
    assert again.outcome == ingestion_pb2.INGESTION_OUTCOME_UNCHANGED
    assert "Le quai est plein." in hit.text
    assert (deleted.original_count, deleted.original_failure) == (1, "")
    assert gone.value.code() is grpc.StatusCode.NOT_FOUND


def test_a_filter_reaches_every_list(caller: Caller) -> None:
    """Only what fulfils it is found; one that cannot be applied is refused by the field's name."""
    unknown = filters_pb2.Filter(field_exists="metadata.unknown")
    every = caller.search(WORKSPACE, "surestaries", limit=20)
    rest = filters_pb2.Filter(negation=unknown)

    assert not caller.search(WORKSPACE, "surestaries", limit=20, filter=unknown).hits
    assert found(caller.search(WORKSPACE, "surestaries", limit=20, filter=rest)) == found(every)
    with pytest.raises(grpc.RpcError) as caught:
        caller.search(WORKSPACE, "q", filter=filters_pb2.Filter(field_exists="title"))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert b"filter.field_exists" in details_of(caught.value)


def test_the_workspace_counts_what_was_ingested(caller: Caller) -> None:
    """The description of the workspace names its documents and its one space."""
    request = workspaces_pb2.DescribeWorkspaceRequest(slug=WORKSPACE)
    workspace = caller.workspaces.DescribeWorkspace(request, timeout=10).workspace

    assert workspace.document_count == len(DOCUMENTS)
    assert [space.passage_count for space in workspace.spaces] == [workspace.passage_count]
    assert workspace.preferred_space_id == workspace.spaces[0].space_id


def test_equal_questions_get_equal_answers(caller: Caller) -> None:
    """Asking twice gives the same passages in the same order."""
    first = caller.search(WORKSPACE, "retard à Marseille")
    second = caller.search(WORKSPACE, "retard à Marseille")

    assert found(first) == found(second)
    assert found(first)


def test_a_question_is_answered_from_what_is_found(mesh: Mesh) -> None:
    """In quoted sentences with their source, or refused by its reason; no chat model is named."""
    with Justesse(mesh.gateway_address) as justesse:
        answer = justesse.answer(WORKSPACE, "Quand l'armateur facture-t-il des surestaries ?")
        refused = justesse.answer(WORKSPACE, "Combien de conteneurs pour Casablanca ?")

    assert answer.outcome.origin is AnswerOrigin.EXTRACTED
    assert "l'armateur facture des surestaries" in answer.text
    assert answer.citations[0].document_id == "surestaries.md"
    assert refused.outcome.refusal is not None
    assert refused.outcome.refusal.reason == "WEAK_EVIDENCE"
