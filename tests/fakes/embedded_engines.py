"""Embedded engines over a folder, with graphs from the first hundred vectors on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.embedded.lexical.lexical_settings import LexicalSettings

SMALL = DenseSettings(flat_row_limit=100, growing_row_limit=50)


@asynccontextmanager
async def opened(path: Path, **lexical: float) -> AsyncIterator[EmbeddedEngine]:
    """Opens an engine over the folder and closes it."""
    settings = EmbeddedSettings(path, dense=SMALL, lexical=LexicalSettings(**lexical))  # type: ignore[arg-type]
    engine = await asyncio.to_thread(EmbeddedEngine, settings)
    try:
        yield engine
    finally:
        await asyncio.to_thread(engine.close)
