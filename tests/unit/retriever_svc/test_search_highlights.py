"""Highlights in the answers of the retriever."""

from justesse.retriever.v1 import search_pb2, workspaces_pb2
from tests.fakes.retriever_client import RetrieverClient

TEXTS = {
    "L’EAU douce": ["EAU"],
    "au cœur de l'inge\u0301nieur": ["cœur", "inge\u0301nieur"],
    "北京烤鸭很好": ["烤鸭"],
    "💧 eau, eaux": ["eau", "eaux"],
}


def marked(hit: search_pb2.PassageHit) -> list[str]:
    """Returns the highlighted parts of a hit."""
    return [hit.passage.text[span.start : span.end] for span in hit.highlights]


async def test_hits_show_where_the_terms_stand(retriever: RetrieverClient) -> None:
    """In code points of the stored text, for the terms of all wordings; only if asked for."""
    for index, text in enumerate(TEXTS):
        await retriever.put(f"d{index}", [text])
    wordings = [search_pb2.QueryVariant(text=text) for text in ("eau", "coeur ingénieur", "烤鸭")]
    answer = await retriever.find("", variants=wordings, highlight=True)
    plain = await retriever.find("", variants=wordings)

    assert {hit.passage.text: marked(hit) for hit in answer.hits} == TEXTS
    assert [marked(hit) for hit in plain.hits] == [[]] * len(TEXTS)
    assert [hit.passage_id for hit in plain.hits] == [hit.passage_id for hit in answer.hits]


async def test_each_hit_is_marked_in_its_language(retriever: RetrieverClient) -> None:
    """As it was indexed: by what its document says, otherwise by its text."""
    settings = workspaces_pb2.WorkspaceSettings(language="auto")
    await retriever.workspaces.CreateWorkspace(
        workspaces_pb2.CreateWorkspaceRequest(slug="both", settings=settings)
    )
    english = "The deliveries of the week arrive at the harbour before noon"
    french = "Les livraisons de la semaine arrivent au port avant midi"
    await retriever.put("en", [english], workspace="both", language="en")
    await retriever.put("fr", [french], workspace="both")
    answer = await retriever.find("delivery livraison", workspace="both", highlight=True)

    assert {hit.document.external_id: marked(hit) for hit in answer.hits} == {
        "en": ["deliveries"],
        "fr": ["livraisons"],
    }
