"""Every process can send its spans, each under a name of its own."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROCESSES = {
    "gateway": "gateway",
    "gateway/ingestion": "ingestion",
    "embedder_svc": "embedder",
    "retriever_svc": "retriever",
    "rewriter_svc": "rewriter",
    "reranker_svc": "reranker",
}


def test_every_process_is_run_with_its_spans() -> None:
    """By the settings that it has read, or the standard variables."""
    for folder, name in PROCESSES.items():
        code = (ROOT / folder / "__main__.py").read_text()
        assert re.findall(r'span_export\("(\w+)", settings, os\.environ\)', code) == [name]
        assert "spans=spans)" in code
