"""A search request checked against a workspace: unit vectors of its spaces, analysed texts."""

from dataclasses import dataclass

from retriever_svc.embedded.dense.segment_rows import QueryVector
from retriever_svc.embedded.lexical.lexical_searcher import LexicalQuery
from retriever_svc.embedded.workspace_view import WorkspaceView
from retriever_svc.fusion_settings import FusionSettings
from retriever_svc.searches import SearchRequest
from retriever_svc.unit_vectors import checked_query_vector


@dataclass(frozen=True, slots=True)
class PreparedVariant:
    """Holds one wording: its weights, its terms, and its vectors in spaces that exist."""

    dense_weight: float
    lexical_weight: float
    terms: LexicalQuery
    vectors: dict[str, QueryVector]


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """Holds all wordings; the first is the original."""

    variants: tuple[PreparedVariant, ...]
    fusion: FusionSettings
    spaces_outdated: bool

    @property
    def original(self) -> PreparedVariant:
        """The original wording."""
        return self.variants[0]

    @property
    def queried_spaces(self) -> list[str]:
        """Spaces that at least one wording has a vector for."""
        return list(dict.fromkeys(id_ for variant in self.variants for id_ in variant.vectors))


def prepare(view: WorkspaceView, request: SearchRequest) -> PreparedQuery:
    """Checks the vectors of the request. Raises InvalidArgument.

    Vectors of spaces that the workspace does not hold find nothing and are left out; so are all
    vectors if the caller embedded for another version of the spaces.
    """
    outdated = (
        request.spaces_version is not None and request.spaces_version != view.row.spaces_version
    )
    variants = []
    for variant in request.variants:
        vectors = {}
        for space_id, vector in variant.vectors.items():
            index = view.indexes.get(space_id)
            if index is not None and not outdated:
                vectors[space_id] = checked_query_vector(vector, space_id, index.dimension)
        terms = view.lexical.analyse(variant.text)
        given = variant.lexical_weight
        lexical_weight = variant.weight if given is None else given
        variants.append(PreparedVariant(variant.weight, lexical_weight, terms, vectors))
    fusion = view.row.settings.fusion.changed_by(request.fusion)
    return PreparedQuery(tuple(variants), fusion, outdated)
