"""Fields and indexes of the two kinds of collections.

Both hold, of the passage's document, what conditions ask for (see `condition_fields`). Terms go
through Milvus's BM25 function, one for each part of a passage, k1 = 1.2 and b = 0.75 as elsewhere;
vectors, of norm 1, go into HNSW by inner product, or into an exact index.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pymilvus import CollectionSchema, DataType, Function, FunctionType, MilvusClient

from retriever_svc.lexical_terms import PARTS

VECTOR_FIELD = "vector"
LONGEST_TERMS = 65_535
"""Bytes of the terms of one part of a passage."""
MOST_FACETS = 4_096
_BM25 = {"bm25_k1": 1.2, "bm25_b": 0.75, "inverted_index_algo": "DAAT_MAXSCORE"}


@dataclass(frozen=True, slots=True)
class IndexedField:
    """Describes the index of one field; the index is named as the field."""

    name: str
    index_type: str
    metric: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)


class CollectionShape(Protocol):
    """What a collection is made of."""

    def schema(self) -> CollectionSchema:
        """Returns the fields and functions."""
        ...

    def indexed_fields(self, *, lite: bool) -> list[IndexedField]:
        """Returns the indexes; Milvus Lite has none for arrays."""
        ...


class TermsShape:
    """Implements `CollectionShape` for the terms of a workspace's passages."""

    def schema(self) -> CollectionSchema:
        """See `CollectionShape`."""
        schema = _conditions_schema()
        for part in PARTS:
            schema.add_field(
                terms_field(part),
                DataType.VARCHAR,
                max_length=LONGEST_TERMS,
                enable_analyzer=True,
                analyzer_params={"tokenizer": "standard"},
            )
            schema.add_field(part, DataType.SPARSE_FLOAT_VECTOR)
            schema.add_function(
                Function(
                    name=f"{part}_bm25",
                    function_type=FunctionType.BM25,
                    input_field_names=[terms_field(part)],
                    output_field_names=[part],
                )
            )
        return schema

    def indexed_fields(self, *, lite: bool) -> list[IndexedField]:
        """See `CollectionShape`."""
        terms = [IndexedField(part, "SPARSE_INVERTED_INDEX", "BM25", _BM25) for part in PARTS]
        return terms + _condition_indexes(lite=lite)


@dataclass(frozen=True, slots=True)
class VectorsShape:
    """Implements `CollectionShape` for the vectors of a space."""

    dimension: int
    exact: bool
    neighbour_count: int
    construction_breadth: int

    def schema(self) -> CollectionSchema:
        """See `CollectionShape`."""
        schema = _conditions_schema()
        schema.add_field(VECTOR_FIELD, DataType.FLOAT_VECTOR, dim=self.dimension)
        return schema

    def indexed_fields(self, *, lite: bool) -> list[IndexedField]:
        """See `CollectionShape`."""
        graph = {"M": self.neighbour_count, "efConstruction": self.construction_breadth}
        vectors = (
            IndexedField(VECTOR_FIELD, "FLAT", "IP")
            if self.exact
            else IndexedField(VECTOR_FIELD, "HNSW", "IP", graph)
        )
        return [vectors, *_condition_indexes(lite=lite)]


def terms_field(part: str) -> str:
    """Returns the name of the field that holds the terms of a part."""
    return f"{part}_terms"


def _conditions_schema() -> CollectionSchema:
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field(
        "facets", DataType.ARRAY, element_type=DataType.INT64, max_capacity=MOST_FACETS
    )
    schema.add_field("bounds", DataType.JSON)
    schema.add_field("valid_from", DataType.INT64)
    schema.add_field("valid_until", DataType.INT64)
    return schema


def _condition_indexes(*, lite: bool) -> list[IndexedField]:
    return [] if lite else [IndexedField("facets", "INVERTED")]
