"""How rerank endpoints differ: paths, keys, limits and prices, as data.

Prices are list prices of 2026; None where the vendor's is not known here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from reranker_svc.endpoints.price import FREE, RerankPrice

_NO_FIELDS: Mapping[str, bool] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a kind of endpoint wants and answers.

    `list_key` is None where the answer is the bare list, `cut_key` where the number of results
    cannot be asked for, `model` is empty where the server has one model and takes no name.
    `request_documents` is how many documents a request may hold until the server says less.
    """

    name: str
    path: str
    model: str = ""
    base_url: str = ""
    documents_key: str = "documents"
    cut_key: str | None = "top_n"
    list_key: str | None = "results"
    score_key: str = "relevance_score"
    request_documents: int = 1000
    fields: Mapping[str, bool] = field(default_factory=lambda: _NO_FIELDS)
    prices: Mapping[str, RerankPrice] = field(default_factory=dict)
    hosted: bool = True

    def price_of(self, model: str) -> RerankPrice | None:
        """Returns the price of a model; a server of one's own costs nothing."""
        return self.prices.get(model) if self.hosted else FREE


_NO_TEXTS_BACK = MappingProxyType({"return_documents": False})

TEI = Dialect(
    "tei",
    "/rerank",
    documents_key="texts",
    cut_key=None,
    list_key=None,
    score_key="score",
    request_documents=32,
    # Its default for over-long texts has changed between versions.
    fields=MappingProxyType({"truncate": True, "raw_scores": False, "return_text": False}),
    hosted=False,
)
COHERE = Dialect(
    "cohere",
    "/v2/rerank",
    "rerank-v3.5",
    "https://api.cohere.com",
    prices={"rerank-v3.5": RerankPrice(per_search=0.002, search_documents=100)},
)
JINA = Dialect(
    "jina",
    "/v1/rerank",
    "jina-reranker-v2-base-multilingual",
    "https://api.jina.ai",
    fields=_NO_TEXTS_BACK,
)
VOYAGE = Dialect(
    "voyage",
    "/v1/rerank",
    "rerank-2.5",
    "https://api.voyageai.com",
    cut_key="top_k",
    list_key="data",
    fields=MappingProxyType({"return_documents": False, "truncation": True}),
    prices={
        "rerank-2.5": RerankPrice(per_million_tokens=0.05),
        "rerank-2.5-lite": RerankPrice(per_million_tokens=0.02),
        "rerank-2": RerankPrice(per_million_tokens=0.05),
        "rerank-2-lite": RerankPrice(per_million_tokens=0.02),
    },
)
MIXEDBREAD = Dialect(
    "mixedbread",
    "/v1/reranking",
    "mixedbread-ai/mxbai-rerank-large-v2",
    "https://api.mixedbread.com",
    documents_key="input",
    cut_key="top_k",
    list_key="data",
    score_key="score",
    fields=MappingProxyType({"return_input": False}),
)
INFINITY = Dialect(
    "infinity",
    "/rerank",
    request_documents=2048,
    fields=MappingProxyType({"return_documents": False, "raw_scores": False}),
    hosted=False,
)
VLLM = Dialect("vllm", "/v1/rerank", hosted=False)
LLAMA_CPP = Dialect("llamacpp", "/v1/rerank", hosted=False)

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        dialect.name: dialect
        for dialect in (TEI, COHERE, JINA, VOYAGE, MIXEDBREAD, INFINITY, VLLM, LLAMA_CPP)
    }
)
"""Every dialect by its name."""
