"""OpenAI's embeddings route, and the look-alike that TEI has."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from tests.fakes.json_server import RefusedError
from tests.fakes.vendors.embedding_server import EmbeddingServer, vector_of


@dataclass
class OpenAiServer(EmbeddingServer):
    """text-embedding-3-small; `answers_in` forces an encoding, whatever is asked for."""

    dimension: int = 1536
    max_texts: int = 2048
    max_tokens: int = 300_000
    max_input_tokens: int = 8192
    path: str = "/v1/embeddings"
    answers_in: str | None = None

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """Answers or refuses."""
        assert path == self.path, path
        texts, counts = body["input"], [self.tokens(text) for text in body["input"]]
        self.refuse(texts, counts)
        encoding = self.answers_in or body.get("encoding_format", "float")
        dimension = body.get("dimensions", self.dimension)
        data = [
            {"object": "embedding", "index": at, "embedding": self._row(text, dimension, encoding)}
            for at, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": sum(counts), "total_tokens": sum(counts)}
        return {"object": "list", "data": data, "model": body["model"], "usage": usage}

    def refuse(self, texts: list[str], counts: list[int]) -> None:
        """Raises RefusedError as OpenAI does."""
        told = ""
        if len(texts) > self.max_texts:
            told = f"Invalid 'input': array too long. Expected at most {self.max_texts}."
        elif not all(texts) or self.poison & set(texts):
            told = "'$.input' is invalid. Please check the API reference."
        elif max(counts) > self.max_input_tokens:
            told = f"This model's maximum context length is {self.max_input_tokens} tokens."
        elif sum(counts) > self.max_tokens:
            told = f"Requested {sum(counts)} tokens, max {self.max_tokens} tokens per request"
        if told:
            error = {"message": told, "type": "invalid_request_error", "param": None, "code": None}
            raise RefusedError(400, {"error": error})

    def _row(self, text: str, dimension: int, encoding: str) -> Any:
        row = vector_of(text, dimension)
        if encoding == "base64":
            return base64.b64encode(row.astype("<f4").tobytes()).decode()
        return [float(number) for number in row]


@dataclass
class TeiServer(OpenAiServer):
    """TEI: 32 texts, flat errors, 413 in older builds and 422 in newer ones, limits at `/info`."""

    dimension: int = 384
    max_texts: int = 32
    max_input_tokens: int = 512
    refusal_status: int = 413
    tells_limits: bool = False

    def answer_get(self, path: str) -> Any:
        """Tells the limits if it does."""
        if path != "/info" or not self.tells_limits:
            raise RefusedError(404, {"error": "not found"})
        limits = {"max_client_batch_size": self.max_texts, "max_input_length": 256}
        return {"model_id": "intfloat/multilingual-e5-small", **limits}

    def refuse(self, texts: list[str], counts: list[int]) -> None:
        """Raises RefusedError as TEI does."""
        if len(texts) > self.max_texts:
            told = f"batch size {len(texts)} > maximum allowed batch size {self.max_texts}"
            error = {"message": told, "code": self.refusal_status, "type": "Validation"}
            raise RefusedError(self.refusal_status, error)
        if max(counts) > self.max_input_tokens:
            told = f"`inputs` must have less than {self.max_input_tokens} tokens."
            error = {"message": told, "code": self.refusal_status, "type": "Validation"}
            raise RefusedError(self.refusal_status, error)
        if self.poison & set(texts):
            error = {"message": "score is NaN", "code": 424, "type": "Backend"}
            raise RefusedError(424, error)
