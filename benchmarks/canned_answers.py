"""What stages answer that do nothing: the same bytes to every request.

Sizes are those of a search as a mesh makes it: two lists of 20, most of them different passages of
some 330 words.
"""

import random
from collections.abc import Mapping

import numpy as np
from google.protobuf.timestamp_pb2 import Timestamp

from justesse.embedder.v1 import embedder_pb2
from justesse.reranker.v1 import reranker_pb2
from justesse.retriever.v1 import documents_pb2, search_pb2, workspaces_pb2
from justesse.rewriter.v1 import rewriter_pb2

WORKSPACE = "bench"
SPACE = "canned/384"
DIMENSION = 384
CANDIDATES = 39
WORDS_A_PASSAGE = 330

_RETRIEVER = "justesse.retriever.v1"
_WORDS = ("conteneur", "quai", "douane", "livraison")
_STORED_AT = Timestamp(seconds=1_700_000_000, nanos=123_456_000)


def answers_of(stage: str) -> Mapping[str, bytes]:
    """Returns the answer to each method, by `/package.Service/Method`."""
    return {
        "rewriter": {"/justesse.rewriter.v1.RewriterService/RewriteQuery": _rewrite()},
        "embedder": {"/justesse.embedder.v1.EmbedderService/EmbedTexts": _vectors()},
        "retriever": {
            f"/{_RETRIEVER}.WorkspaceService/DescribeWorkspace": _workspace(),
            f"/{_RETRIEVER}.SearchService/SearchPassages": _hits(),
        },
        "reranker": {"/justesse.reranker.v1.RerankerService/RerankPassages": _ranking()},
    }[stage]


def _rewrite() -> bytes:
    return rewriter_pb2.RewriteQueryResponse(
        query="canned",
        standalone_question="canned",
        origin=rewriter_pb2.REWRITE_ORIGIN_ORIGINAL,
        report=rewriter_pb2.StageReport(
            outcome=rewriter_pb2.STAGE_OUTCOME_SKIPPED, reason="NO_MODEL", detail="canned"
        ),
        unchanged_for_s=60.0,
    ).SerializeToString()


def _vectors() -> bytes:
    row = np.full(DIMENSION, DIMENSION**-0.5, dtype="<f4")
    return embedder_pb2.EmbedTextsResponse(
        space_id=SPACE,
        dimension=DIMENSION,
        vectors=row.tobytes(),
        texts=[embedder_pb2.EmbeddedText(token_count=8)],
        report=embedder_pb2.StageReport(
            outcome=embedder_pb2.STAGE_OUTCOME_RAN, provider="canned", model="canned"
        ),
    ).SerializeToString()


def _space() -> workspaces_pb2.Space:
    return workspaces_pb2.Space(space_id=SPACE, dimension=DIMENSION, passage_count=1_000)


def _workspace() -> bytes:
    return workspaces_pb2.DescribeWorkspaceResponse(
        workspace=workspaces_pb2.Workspace(
            slug=WORKSPACE,
            settings=workspaces_pb2.WorkspaceSettings(language="fr"),
            spaces=[_space()],
            preferred_space_id=SPACE,
            spaces_version=1,
        )
    ).SerializeToString()


def _hits() -> bytes:
    words = random.Random(11)
    response = search_pb2.SearchPassagesResponse(
        lists=[
            search_pb2.RankedList(space_id=SPACE, hit_count=20, exact=True, weight=1.0),
            search_pb2.RankedList(hit_count=20, weight=1.0),
        ],
        spaces=[_space()],
        spaces_version=1,
        report=search_pb2.StageReport(
            outcome=search_pb2.STAGE_OUTCOME_RAN, provider="canned", detail="canned"
        ),
        total_count=CANDIDATES,
    )
    for number in range(CANDIDATES):
        text = " ".join(words.choices(_WORDS, k=WORDS_A_PASSAGE))
        response.hits.add(
            passage_id=str(number),
            passage=documents_pb2.Passage(
                chunk_index=number % 3, text=text, heading_path=["Titre"]
            ),
            document=documents_pb2.Document(
                external_id=f"{number // 2:04}.md", title=f"Document {number // 2}", language="fr"
            ),
            fused_rank=number + 1,
            fused_score=1 / (61 + number),
            list_ranks=[
                search_pb2.ListRank(
                    list_index=number % 2, rank=number // 2 + 1, contribution=1 / (61 + number)
                )
            ],
            space_scores=[search_pb2.SpaceScore(space_id=SPACE, cosine=0.9 - number / 100)],
            bm25_score=12.0 - number / 10,
            update_time=_STORED_AT,
        )
    return response.SerializeToString()


def _ranking() -> bytes:
    return reranker_pb2.RerankPassagesResponse(
        passages=[
            reranker_pb2.RankedPassage(passage_id=str(number), score=number / CANDIDATES)
            for number in reversed(range(CANDIDATES))
        ],
        report=reranker_pb2.StageReport(
            outcome=reranker_pb2.STAGE_OUTCOME_RAN, provider="canned", model="canned"
        ),
    ).SerializeToString()
