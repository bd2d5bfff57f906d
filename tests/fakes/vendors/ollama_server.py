"""Ollama's native route: positions count, one bad text fails all, errors with status 400 or 500."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.fakes.json_server import RefusedError
from tests.fakes.vendors.embedding_server import EmbeddingServer, vector_of


@dataclass
class OllamaServer(EmbeddingServer):
    """nomic-embed-text; `ignores_truncate` cuts silently, as versions 0.13.5 to 0.15 do."""

    dimension: int = 768
    max_input_tokens: int = 2048
    models: tuple[str, ...] = ("nomic-embed-text",)
    ignores_truncate: bool = False
    nan_status: int = 400

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """Answers or refuses."""
        assert path == "/api/embed", path
        if body["model"] not in self.models:
            told = f'model "{body["model"]}" not found, try pulling it first'
            raise RefusedError(404, {"error": told})
        texts = body["input"]
        counts = [self.tokens(text) for text in texts]
        if max(counts, default=0) > self.max_input_tokens:
            if not self.ignores_truncate:
                raise RefusedError(400, {"error": "the input length exceeds the context length"})
            counts = [min(count, self.max_input_tokens) for count in counts]
        if any(bad in text for bad in self.poison for text in texts):
            told = "failed to encode response: json: unsupported value: NaN"
            if self.nan_status == 400:
                told = "embedding contains NaN or Inf values"
            raise RefusedError(self.nan_status, {"error": told})
        kept = round(self.max_input_tokens / self.tokens_per_character)
        rows = [vector_of(text[:kept], self.dimension) for text in texts]
        return {
            "model": body["model"],
            "embeddings": [[float(number) for number in row] for row in rows],
            "total_duration": 14_143_917,
            "load_duration": 1_019_500,
            "prompt_eval_count": sum(counts),
        }
