"""Reads files in child processes that are killed when they take too long or too much.

Children stay warm between files. A crash, a loop or a bomb costs the child, never the parent; a
file that fails in a child that had read others gets a second try in a new one.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path

import structlog

from gateway.ingestion.extraction.blocks import Extraction
from gateway.ingestion.extraction.image_pages import ReadPage, with_image_texts
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.read_pages import ReadPages
from gateway.ingestion.extraction.refusals import FileRefused, over_limit, unreadable
from gateway.ingestion.extraction.serialization import (
    ExtractorFailed,
    OutOfMemory,
    extraction_from_json,
)

_log = structlog.get_logger("gateway.ingestion.extraction")

_COMMAND = (sys.executable, "-m", "gateway.ingestion.extraction")
_INHERITED_VARIABLES = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "TESSDATA_PREFIX")
_LENGTH_BYTES = 8
_DYING_SECONDS = 5.0
_LONGEST_ANSWER = 512 * 1024 * 1024


class _WornOut(Exception):  # noqa: N818 - the child is, not the file
    """A child ended while it read a file; `refusal` is what a new child's end would mean."""

    def __init__(self, refusal: FileRefused) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class ExtractionProcesses:
    """Reads files in at most `count` children at a time; each is replaced after some files."""

    def __init__(
        self,
        limits: ExtractionLimits,
        *,
        count: int = 2,
        files_per_process: int = 200,
        command: Sequence[str] = _COMMAND,
    ) -> None:
        self._limits = limits
        self._files_per_process = files_per_process
        self._command = command
        self._free = asyncio.Semaphore(count)
        self._idle: list[_Child] = []

    async def extract(
        self, path: Path, suffix: str, read_pages: ReadPages | None = None
    ) -> Extraction:
        """Reads the file at `path` as the type its `suffix` names; raises FileRefused.

        Images in it are read page by page, and other files meanwhile. Pages that an earlier attempt
        left in `read_pages` are not read again, and those read now are left there.
        """
        extraction = await self._in_child(path, suffix)
        if not extraction.image_pages:
            return extraction
        read = partial(self._in_child, path, suffix)
        if read_pages is not None:
            read = partial(_read_once, read, read_pages)
        return await with_image_texts(extraction, read, self._limits.ocr_pages)

    async def _in_child(self, path: Path, suffix: str, page: int = 0) -> Extraction:
        async with self._free:
            if self._idle:
                with suppress(_WornOut):
                    return await self._read(self._idle.pop(), path, suffix, page)
            try:
                return await self._read(await _Child.start(self._command), path, suffix, page)
            except _WornOut as end:
                raise end.refusal from end

    async def close(self) -> None:
        """Ends the children; none may be at work."""
        while self._idle:
            await self._idle.pop().end()

    async def _read(self, child: _Child, path: Path, suffix: str, page: int) -> Extraction:
        reusable = False
        try:
            async with asyncio.timeout(self._limits.wall_seconds):
                answer = await child.ask(path, suffix, page, self._limits)
            extraction = await asyncio.to_thread(extraction_from_json, answer)
            reusable = True
        except FileRefused:
            reusable = True
            raise
        except TimeoutError:
            raise over_limit(
                f"reading the file takes more than {self._limits.wall_seconds:g} s"
            ) from None
        except asyncio.IncompleteReadError as error:
            raise self._end_of(await child.exit_code()) from error
        except OutOfMemory as error:
            raise _WornOut(
                over_limit(
                    "reading the file needs more than "
                    f"{self._limits.memory_bytes // 1024**2} MiB of memory"
                )
            ) from error
        except ExtractorFailed as error:
            reusable = True
            _log.warning("extractor failed", suffix=suffix, traceback=str(error))
            raise unreadable("the file has parts that cannot be read") from error
        finally:
            if reusable and child.file_count < self._files_per_process:
                self._idle.append(child)
            else:
                await child.end()
        return extraction

    def _end_of(self, exit_code: int) -> Exception:
        if exit_code == -signal.SIGXCPU:
            return over_limit(
                f"reading the file takes more than {self._limits.cpu_seconds} s of processor time"
            )
        _log.warning("extraction process ended", exit_code=exit_code)
        return _WornOut(unreadable("the file makes its reader crash or run out of memory"))


async def _read_once(read: ReadPage, read_pages: ReadPages, number: int) -> Extraction:
    page = await asyncio.to_thread(read_pages.get, number)
    if page is None:
        page = await read(number)
        await asyncio.to_thread(read_pages.put, number, page)
    return page


class _Child:
    """One process of `gateway.ingestion.extraction.__main__`."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.file_count = 0

    @classmethod
    async def start(cls, command: Sequence[str]) -> _Child:
        # Nothing of the parent reaches the child: no sockets, no keys in the environment.
        environment = {
            name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ
        }
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env=environment,
            start_new_session=True,
        )
        return cls(process)

    async def ask(self, path: Path, suffix: str, page: int, limits: ExtractionLimits) -> bytes:
        """Returns the answer about a file, or about the image of one of its pages from 1.

        Raises IncompleteReadError where the child ends first.
        """
        self.file_count += 1
        request = {"path": str(path), "suffix": suffix, "page": page, "limits": asdict(limits)}
        requests, answers = self._process.stdin, self._process.stdout
        if requests is None or answers is None:
            raise RuntimeError("the process was started without pipes")
        requests.write(json.dumps(request).encode() + b"\n")
        length = int.from_bytes(await answers.readexactly(_LENGTH_BYTES), "big")
        if length > _LONGEST_ANSWER:
            raise asyncio.IncompleteReadError(b"", length)
        return await answers.readexactly(length)

    async def exit_code(self) -> int:
        """Returns the exit code of a process that has closed its pipe, negative for a signal."""
        # Killing at once could win over the reason the process itself died of.
        with suppress(TimeoutError):
            async with asyncio.timeout(_DYING_SECONDS):
                return await self._process.wait()
        return await self.end()

    async def end(self) -> int:
        """Kills the process if it lives, and returns its exit code."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                # With the programs it has started, such as one that reads an image.
                os.killpg(self._process.pid, signal.SIGKILL)
        if self._process.stdin is not None:
            self._process.stdin.close()
        return await self._process.wait()
