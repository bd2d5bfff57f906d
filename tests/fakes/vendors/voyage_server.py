"""Voyage's embeddings route: base64 or nothing, `{"detail"}` errors, totals counted per request."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from tests.fakes.json_server import RefusedError
from tests.fakes.vendors.embedding_server import EmbeddingServer, vector_of


@dataclass
class VoyageServer(EmbeddingServer):
    """voyage-3-lite unless told otherwise; answers in base64 when asked to."""

    dimension: int = 512
    max_texts: int = 1000
    max_tokens: int = 1_000_000
    max_input_tokens: int = 32_000
    tokens_per_character: float = 0.4

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """Answers or refuses."""
        assert path == "/v1/embeddings", path
        if body.get("encoding_format") not in (None, "base64"):
            raise RefusedError(400, {"detail": "Value 'float' is not a valid encoding_format."})
        if body["input_type"] not in ("query", "document"):
            raise RefusedError(400, {"detail": "input_type is invalid"})
        texts, counts = body["input"], [self.tokens(text) for text in body["input"]]
        if len(texts) > self.max_texts:
            raise RefusedError(400, {"detail": "The batch size limit is 1000."})
        if max(counts) > self.max_input_tokens and not body["truncation"]:
            raise RefusedError(400, {"detail": "an example is too long after tokenization"})
        if sum(counts) > self.max_tokens:
            told = f"The max allowed tokens per submitted batch is {self.max_tokens}."
            raise RefusedError(400, {"detail": f"{told} Your batch has {sum(counts)} tokens."})
        if self.poison & set(texts):
            raise RefusedError(400, {"detail": "invalid input"})
        # The purpose changes the vector, as the words put before it do.
        rows = [vector_of(f"{body['input_type']}: {text}", self.dimension) for text in texts]
        encoded = [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in rows]
        data = [
            {"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(encoded)
        ]
        usage = {"total_tokens": sum(counts)}
        return {"object": "list", "data": data, "model": body["model"], "usage": usage}
