"""Files are read in child processes that may die without harm."""

import asyncio
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.ingestion.extraction.blocks import Block, BlockKind, Extraction, FileFacts
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.process import ExtractionProcesses
from gateway.ingestion.extraction.refusals import FileRefused, RefusalReason
from gateway.ingestion.extraction.serialization import extraction_from_json, extraction_to_json

READER = (sys.executable, str(Path(__file__).parents[2] / "fakes" / "misbehaving_reader.py"))
MEMORY = 512 * 1024 * 1024


@pytest.fixture
async def processes(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ExtractionProcesses]:
    """One misbehaving reader with tight limits."""
    monkeypatch.setenv("SECRET_KEY", "never passed on")
    limits = ExtractionLimits(wall_seconds=10, cpu_seconds=1, memory_bytes=MEMORY)
    made = ExtractionProcesses(limits, count=1, files_per_process=3, command=READER)
    yield made
    await made.close()


async def told(processes: ExtractionProcesses, folder: Path, words: str) -> dict[str, str]:
    """Has a file read that tells the reader what to do; returns what it says of itself."""
    path = folder / "orders"
    path.write_text(words)
    extraction = await processes.extract(path, ".txt")
    words_by_topic = (block.text.partition(" ") for block in extraction.blocks)
    return {topic: rest for topic, _, rest in words_by_topic}


async def test_a_real_file_comes_back_as_data(tmp_path: Path) -> None:
    """The blocks cross the pipe unharmed."""
    path = tmp_path / "upload"
    path.write_text("# Été\n\nBonjour à tous.", encoding="utf-8")
    processes = ExtractionProcesses(ExtractionLimits(), count=1)

    extraction = await processes.extract(path, ".md")
    await processes.close()

    assert [block.text for block in extraction.blocks] == ["Été", "Bonjour à tous."]


async def test_a_process_reads_several_files_and_is_then_replaced(
    processes: ExtractionProcesses, tmp_path: Path
) -> None:
    """Starting is paid once for some files; no process lives for ever."""
    seen = [(await told(processes, tmp_path, "tell"))["process"].split() for _ in range(4)]

    assert [answer[2] for answer in seen] == ["1", "2", "3", "1"]
    assert len({answer[0] for answer in seen}) == 2


async def test_nothing_of_the_parent_reaches_the_child(
    processes: ExtractionProcesses, tmp_path: Path
) -> None:
    """Keys stay out of its environment, sockets and files out of its descriptors."""
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    async with server:
        answer = await told(processes, tmp_path, "tell")

    assert "SECRET_KEY" not in answer["variables"]
    assert "PATH" in answer["variables"]
    # Standard streams, the pipe for answers, and the listing of the folder itself.
    assert len(answer["descriptors"].split()) <= 5


async def test_a_child_reaches_no_network(processes: ExtractionProcesses, tmp_path: Path) -> None:
    """Not even this machine's own, where the system lets a process leave it."""
    script = "from gateway.ingestion.extraction.isolation import leave_network as leave\n"
    asked = await asyncio.create_subprocess_exec(
        sys.executable, "-c", f"{script}raise SystemExit(not leave())"
    )
    if await asked.wait() != 0:
        pytest.skip("this system keeps processes in its network")
    reached: list[object] = []
    server = await asyncio.start_server(lambda *ends: reached.append(ends), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(FileRefused):
            await told(processes, tmp_path, f"connect port {port}")

    assert reached == []


@pytest.mark.parametrize(
    ("words", "reason", "named"),
    [
        ("spin", RefusalReason.LIMIT_EXCEEDED, "1 s of processor time"),
        ("allocate", RefusalReason.LIMIT_EXCEEDED, "512 MiB of memory"),
        ("abort", RefusalReason.UNREADABLE_FILE, "crash"),
        ("raise", RefusalReason.UNREADABLE_FILE, "cannot be read"),
        ("write", RefusalReason.UNREADABLE_FILE, "cannot be read"),
    ],
)
async def test_a_dangerous_file_is_refused_and_the_next_one_is_read(
    processes: ExtractionProcesses, tmp_path: Path, words: str, reason: RefusalReason, named: str
) -> None:
    """Loops, bombs and crashes get a typed answer; the parent goes on."""
    with pytest.raises(FileRefused, match=named) as raised:
        await told(processes, tmp_path, words)

    assert raised.value.reason is reason
    assert not (tmp_path / "written").exists() or not (tmp_path / "written").read_text()
    assert "process" in await told(processes, tmp_path, "tell")


async def test_a_file_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    """The wall clock counts too, where no processor time is used."""
    path = tmp_path / "orders"
    path.write_text("sleep")
    limits = ExtractionLimits(wall_seconds=1.5)
    processes = ExtractionProcesses(limits, count=1, command=READER)

    with pytest.raises(FileRefused, match=r"more than 1\.5 s") as raised:
        await processes.extract(path, ".txt")
    await processes.close()

    assert raised.value.reason is RefusalReason.LIMIT_EXCEEDED


async def test_a_worn_out_process_does_not_condemn_a_file(
    processes: ExtractionProcesses, tmp_path: Path
) -> None:
    """What crashes only after other files is read by a new process."""
    await told(processes, tmp_path, "tell")

    answer = await told(processes, tmp_path, "abort unless first")

    assert answer["process"].endswith("file 1")


async def test_memory_kept_from_earlier_files_does_not_condemn_a_file(
    processes: ExtractionProcesses, tmp_path: Path
) -> None:
    """The file that meets the limit in a filled process fits into a new one."""
    await told(processes, tmp_path, "hoard")

    answer = await told(processes, tmp_path, "hoard")

    assert answer["process"].endswith("file 1")


async def test_what_a_library_prints_does_not_disturb_the_answer(
    processes: ExtractionProcesses, tmp_path: Path
) -> None:
    """Answers have a pipe of their own."""
    await told(processes, tmp_path, "print")

    assert "process" in await told(processes, tmp_path, "print")


async def test_cancelling_kills_the_reader(processes: ExtractionProcesses, tmp_path: Path) -> None:
    """Nobody waits for the file any more: the next one gets a new process."""
    reading = asyncio.create_task(told(processes, tmp_path, "sleep"))
    await asyncio.sleep(0.3)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading

    assert (await told(processes, tmp_path, "tell"))["process"].endswith("file 1")


def test_an_extraction_survives_the_round_trip_through_json() -> None:
    """Every field and every type of fact comes back."""
    moment = datetime(2024, 1, 31, 12, tzinfo=UTC)
    extraction = Extraction(
        (
            Block(BlockKind.TABLE, ("| 1 |",), location="S", header=("| a |", "| --- |")),
            Block(BlockKind.CODE, ("x = 'é'",), language="python"),
            Block(BlockKind.HEADING, ("Titre",), level=2),
        ),
        FileFacts(
            title="T",
            keywords=("a", "b"),
            category="c",
            language="fr",
            version="1.10",
            superseded=True,
            valid_from=moment,
            metadata={"text": "x", "number": 3.0, "truth": False, "moment": moment},
        ),
        ("a warning",),
    )

    assert extraction_from_json(extraction_to_json(extraction)) == extraction
