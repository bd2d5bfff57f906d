"""The process that reads files: takes one request a line, answers with JSON of stated length.

It is started by `gateway.ingestion.extraction.process` and ends when its input does.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import traceback
from pathlib import Path
from typing import BinaryIO

from gateway.ingestion.extraction.isolation import leave_network
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.refusals import FileRefused
from gateway.ingestion.extraction.registry import extract_file, extract_image_page
from gateway.ingestion.extraction.serialization import (
    extraction_to_json,
    failure_to_json,
    out_of_memory_to_json,
    refusal_to_json,
)

_LENGTH_BYTES = 8
_OPEN_FILES = 64


def main() -> None:
    """Reads files until the input ends."""
    answers = _private_output()
    leave_network()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        limits = ExtractionLimits(**request["limits"])
        _limit_process(limits)
        answer = _answer(Path(request["path"]), request["suffix"], request["page"], limits)
        answers.write(len(answer).to_bytes(_LENGTH_BYTES, "big"))
        answers.write(answer)
        answers.flush()


def _answer(path: Path, suffix: str, page: int, limits: ExtractionLimits) -> bytes:
    try:
        if page:
            return extraction_to_json(extract_image_page(path, suffix, page, limits))
        return extraction_to_json(extract_file(path, suffix, limits))
    except FileRefused as refusal:
        return refusal_to_json(refusal)
    except MemoryError:
        return out_of_memory_to_json()
    except Exception:
        return failure_to_json(traceback.format_exc())


def _private_output() -> BinaryIO:
    """Keeps the pipe to the parent for answers: what a library prints goes nowhere."""
    pipe = os.dup(sys.stdout.fileno())
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return os.fdopen(pipe, "wb")


def _limit_process(limits: ExtractionLimits) -> None:
    """Bounds memory for good, and processor time anew for every file."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used_seconds = int(usage.ru_utime + usage.ru_stime) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (used_seconds + limits.cpu_seconds, hard))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))


if __name__ == "__main__":
    main()
