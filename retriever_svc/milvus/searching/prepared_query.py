"""A search request checked against a workspace: unit vectors of its spaces, analysed texts."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retriever_svc.fusion_settings import FusionSettings
from retriever_svc.milvus.searching.search_view import SearchView
from retriever_svc.searches import SearchRequest
from retriever_svc.unit_vectors import checked_query_vector


@dataclass(frozen=True, slots=True)
class PreparedVariant:
    """Holds one wording: its weights, its terms by language, its vectors in spaces that exist."""

    dense_weight: float
    lexical_weight: float
    terms: Mapping[str, tuple[str, ...]]
    vectors: Mapping[str, npt.NDArray[np.float32]]


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


def prepare(view: SearchView, request: SearchRequest) -> PreparedQuery:
    """Checks the vectors of the request. Raises InvalidArgument.

    Vectors of spaces that the workspace does not hold find nothing and are left out; so are all
    vectors if the caller embedded for another version of the spaces.
    """
    version = request.spaces_version
    outdated = version is not None and version != view.row.spaces_version
    variants = []
    for variant in request.variants:
        vectors = {}
        for space_id, vector in variant.vectors.items():
            space = view.row.space(space_id)
            if space is not None and not outdated:
                vectors[space_id] = checked_query_vector(vector, space_id, space.dimension)
        given = variant.lexical_weight
        lexical_weight = variant.weight if given is None else given
        variants.append(
            PreparedVariant(variant.weight, lexical_weight, view.terms_of(variant.text), vectors)
        )
    fusion = view.row.settings.fusion.changed_by(request.fusion)
    return PreparedQuery(tuple(variants), fusion, outdated)
