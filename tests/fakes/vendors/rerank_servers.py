"""Servers that speak the rerank formats of the vendors, written from their references."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tests.fakes.json_server import JsonServer, RefusedError

KEY = "sk-very-secret-0123456789"


def score_of(query: str, document: str) -> float:
    """Returns how many words of the query the document holds, of all; ties are likely."""
    asked = set(re.findall(r"\w+", query.lower()))
    return len(asked & set(re.findall(r"\w+", document.lower()))) / max(1, len(asked))


@dataclass(kw_only=True)
class RerankServer(JsonServer):
    """What all have in common: documents in, scores out, best first."""

    path: str = "/v1/rerank"
    documents_key: str = "documents"
    allowed_keys: frozenset[str] = frozenset()
    max_documents: int = 1000
    max_characters: int = 10**9

    @property
    def documents(self) -> list[list[str]]:
        """The documents of each request."""
        return [body[self.documents_key] for body in self.bodies]

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """Answers or refuses."""
        assert path == self.path, path
        assert set(body) <= self.allowed_keys | {"query", self.documents_key}, body
        documents = body[self.documents_key]
        if not documents or any(type(document) is not str for document in documents):
            raise self.refusal("documents must be a list of strings, not empty")
        if len(documents) > self.max_documents:
            raise self.too_many(len(documents))
        if max(map(len, documents)) > self.max_characters:
            raise self.too_long()
        scores = [score_of(body["query"], document) for document in documents]
        best_first = sorted(range(len(scores)), key=lambda at: (-scores[at], -at))
        return self.format([(at, scores[at], documents[at]) for at in best_first], body)

    def format(self, results: list[tuple[int, float, str]], body: dict[str, Any]) -> Any:
        """Returns the answer for results of index, score and document."""
        raise NotImplementedError

    def refusal(self, message: str) -> RefusedError:
        """A request that is wrong."""
        return RefusedError(400, {"message": message})

    def too_many(self, count: int) -> RefusedError:
        """Too many documents."""
        return self.refusal(f"{count} documents are more than {self.max_documents}")

    def too_long(self) -> RefusedError:
        """A document is too long."""
        return self.refusal("a document has too many tokens")


@dataclass(kw_only=True)
class TeiServer(RerankServer):
    """TEI: `texts` in, a bare list out; 32 texts, 413 in older builds and 422 in newer ones."""

    path: str = "/rerank"
    documents_key: str = "texts"
    allowed_keys: frozenset[str] = frozenset({"truncate", "raw_scores", "return_text"})
    max_documents: int = 32
    refusal_status: int = 422

    def format(self, results: list[tuple[int, float, str]], body: dict[str, Any]) -> Any:
        """Answers a bare list."""
        assert body["truncate"] is True, "over-long texts are refused or cut, by version"
        return [{"index": at, "score": score} for at, score, _ in results]

    def too_many(self, count: int) -> RefusedError:
        """Words as TEI has them."""
        told = f"batch size {count} > maximum allowed batch size {self.max_documents}"
        return RefusedError(self.refusal_status, {"error": told, "error_type": "Validation"})


@dataclass(kw_only=True)
class CohereServer(RerankServer):
    """Cohere, v2."""

    path: str = "/v2/rerank"
    allowed_keys: frozenset[str] = frozenset({"model", "top_n", "max_tokens_per_doc", "priority"})

    def format(self, results: list[tuple[int, float, str]], body: dict[str, Any]) -> Any:
        """Answers with billed units instead of usage."""
        return {
            "id": "07734bd2",
            "results": [{"index": at, "relevance_score": score} for at, score, _ in results],
            "meta": {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}},
        }


@dataclass(kw_only=True)
class JinaServer(RerankServer):
    """Jina, and the many that have taken over its format."""

    allowed_keys: frozenset[str] = frozenset({"model", "top_n", "return_documents"})

    def format(self, results: list[tuple[int, float, str]], body: dict[str, Any]) -> Any:
        """Answers with usage; documents come as objects unless they are declined."""
        wanted = body.get("return_documents", True)
        return {
            "model": body["model"],
            "usage": {"total_tokens": 815, "prompt_tokens": 815},
            "results": [
                {"index": at, "relevance_score": score}
                | ({"document": {"text": text}} if wanted else {})
                for at, score, text in results
            ],
        }


@dataclass(kw_only=True)
class VoyageServer(RerankServer):
    """Voyage: the list is `data`, the cut `top_k`."""

    allowed_keys: frozenset[str] = frozenset({"model", "top_k", "return_documents", "truncation"})

    def format(self, results: list[tuple[int, float, str]], body: dict[str, Any]) -> Any:
        """Answers in `data`."""
        return {
            "object": "list",
            "data": [{"index": at, "relevance_score": score} for at, score, _ in results],
            "model": body["model"],
            "usage": {"total_tokens": 2000},
        }

    def refusal(self, message: str) -> RefusedError:
        """Words as Voyage has them."""
        return RefusedError(400, {"detail": message})


@dataclass(kw_only=True)
class MixedbreadServer(RerankServer):
    """Mixedbread: `input` in, `score` out."""

    path: str = "/v1/reranking"
    documents_key: str = "input"
    allowed_keys: frozenset[str] = frozenset({"model", "top_k", "return_input"})

    def format(self, results: list[tuple[int, float, str]], body: dict[str, Any]) -> Any:
        """Answers in `data` with `score`."""
        return {
            "usage": {"prompt_tokens": 64, "total_tokens": 64},
            "model": body["model"],
            "data": [
                {"index": at, "score": score, "input": None, "object": "text_document"}
                for at, score, _ in results
            ],
            "object": "list",
            "top_k": body["top_k"],
            "return_input": False,
        }


@dataclass(kw_only=True)
class InfinityServer(RerankServer):
    """infinity: no version in the path; errors nested under `error`."""

    path: str = "/rerank"
    allowed_keys: frozenset[str] = frozenset({"model", "top_n", "return_documents", "raw_scores"})

    def format(self, results: list[tuple[int, float, str]], body: dict[str, Any]) -> Any:
        """Answers with documents as plain strings if they are asked for."""
        return {
            "object": "rerank",
            "results": [{"relevance_score": score, "index": at} for at, score, _ in results],
            "model": body["model"],
            "usage": {"prompt_tokens": 300, "total_tokens": 300},
        }

    def refusal(self, message: str) -> RefusedError:
        """Words as infinity has them."""
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": 400}
        return RefusedError(400, {"error": error})


@dataclass(kw_only=True)
class VllmServer(RerankServer):
    """vLLM: documents come back whether or not they are asked for."""

    allowed_keys: frozenset[str] = frozenset({"model", "top_n"})

    def format(self, results: list[tuple[int, float, str]], body: dict[str, Any]) -> Any:
        """Answers with documents as objects."""
        return {
            "id": "score-1",
            "model": body["model"],
            "usage": {"total_tokens": 56},
            "results": [
                {"index": at, "document": {"text": text}, "relevance_score": score}
                for at, score, text in results
            ],
        }


@dataclass(kw_only=True)
class LlamaCppServer(RerankServer):
    """llama.cpp: raw logits, in the order of the request, 500 for what its batch cannot hold."""

    allowed_keys: frozenset[str] = frozenset({"model", "top_n"})

    def format(self, results: list[tuple[int, float, str]], body: dict[str, Any]) -> Any:
        """Answers with negative numbers."""
        return {
            "model": body.get("model", ""),
            "object": "list",
            "usage": {"prompt_tokens": 77, "total_tokens": 77},
            "results": [
                {"index": at, "relevance_score": 8.0 * score - 11.0}
                for at, score, _ in sorted(results)
            ],
        }

    def too_long(self) -> RefusedError:
        """Words as llama.cpp has them."""
        told = "input is too large to process. increase the physical batch size"
        return RefusedError(500, {"error": {"code": 500, "message": told, "type": "server_error"}})
