"""Mistral's embeddings route: knows few keys, caps requests with code 3210, may leave out index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.fakes.json_server import RefusedError
from tests.fakes.vendors.embedding_server import EmbeddingServer, vector_of

KEYS = {"model", "input", "encoding_format", "metadata"}


def too_large(message: str) -> RefusedError:
    """A refusal as Mistral words it."""
    kind = "invalid_request_prompt"
    return RefusedError(
        400, {"object": "error", "message": message, "type": kind, "param": None, "code": "3210"}
    )


@dataclass
class MistralServer(EmbeddingServer):
    """Limits of 2026: 512 inputs and 16,384 tokens a request, 8192 tokens an input."""

    dimension: int = 1024
    max_texts: int = 512
    max_tokens: int = 16_384
    max_input_tokens: int = 8192
    with_index: bool = True

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """Answers or refuses."""
        assert path == "/v1/embeddings", path
        if not set(body) <= KEYS:
            raise RefusedError(422, {"detail": [{"loc": ["body"], "msg": "extra", "type": "x"}]})
        texts = body["input"]
        if len(texts) > self.max_texts:
            raise too_large("Too many inputs in request")
        counts = [self.tokens(text) for text in texts]
        if max(counts) > self.max_input_tokens:
            raise RefusedError(400, {"message": f"Input exceeds {self.max_input_tokens} tokens."})
        if sum(counts) > self.max_tokens:
            raise too_large("Too many tokens overall, split into more batches.")
        if not all(text.strip() for text in texts) or self.poison & set(texts):
            raise RefusedError(400, {"object": "error", "message": "Invalid input", "code": None})
        data = [
            {"object": "embedding", "index": at, "embedding": self._row(text)}
            for at, text in enumerate(texts)
        ]
        if not self.with_index:
            data = [{"embedding": item["embedding"]} for item in data]
        usage = {"prompt_tokens": sum(counts), "total_tokens": sum(counts), "completion_tokens": 0}
        return {"id": "1", "object": "list", "model": body["model"], "usage": usage, "data": data}

    def _row(self, text: str) -> list[float]:
        return [float(number) for number in vector_of(text, self.dimension)]
