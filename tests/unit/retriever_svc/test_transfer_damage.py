"""Records that are missing, altered, out of order or hostile: refused in words, nothing stays."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from chassis.errors import FailedPrecondition, InvalidArgument, ResourceExhausted, ServiceError
from justesse.retriever.v1 import transfers_pb2
from retriever_svc.wire.transfers.record_digest import RecordDigest
from retriever_svc.wire.uploads import UploadLimits
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.plain_engine.plain_engine import PlainEngine
from tests.fakes.transfers import exported, fill, imported

Record = transfers_pb2.TransferRecord


async def filled() -> tuple[PlainEngine, list[bytes]]:
    """Returns an engine with a workspace, and the records of it."""
    engine = PlainEngine()
    await fill(engine)
    return engine, await exported(engine)


async def refused(engine: PlainEngine, records: list[bytes], **limits: int) -> ServiceError:
    """Imports the records; returns why not, having seen that nothing stays."""
    with pytest.raises(ServiceError) as caught:
        await imported(engine, records, uploads=UploadLimits(**limits))
    assert [one.slug for one in await engine.list_workspaces()] == ["rich"]
    return caught.value


def sealed(records: list[bytes]) -> list[bytes]:
    """Returns forged records with counts and a checksum that fit."""
    digest = RecordDigest()
    for data in records[:-1]:
        record = Record.FromString(data)
        digest.add(data)
        digest.documents += record.WhichOneof("content") == "document"
        digest.passages += len(record.passages.passages)
        width = 4 * record.vectors.dimension
        digest.vectors += len(record.vectors.vectors) // width if width > 0 else 0
    return [*records[:-1], Record(end=digest.end()).SerializeToString()]


async def test_a_bit_that_was_flipped_anywhere_is_noticed(soak: bool) -> None:
    """In whatever record and whatever byte of it."""
    engine, records = await filled()
    chance = Random(3)
    for number, record in enumerate(records):
        places = range(len(record)) if soak else chance.sample(range(len(record)), 3)
        for place in places:
            altered = bytearray(record)
            altered[place] ^= 1 << chance.randrange(8)
            error = await refused(
                engine, [*records[:number], bytes(altered), *records[number + 1 :]]
            )

            assert isinstance(error, InvalidArgument | FailedPrecondition), (number, place)


async def test_a_stream_that_ends_early_is_noticed() -> None:
    """After whatever record: it says that it was cut off."""
    engine, records = await filled()
    for count in range(len(records)):
        error = await refused(engine, records[:count])

        assert error.reason == "ARCHIVE_DAMAGED"
        assert ("cut off" if count else "empty") in str(error)


async def test_records_out_of_order_are_noticed() -> None:
    """Two that changed places, one that is missing and one that comes twice, wherever."""
    engine, records = await filled()
    for place in range(len(records) - 1):
        swapped = [*records[:place], records[place + 1], records[place], *records[place + 2 :]]
        missing = [*records[:place], *records[place + 1 :]]
        twice = [*records[: place + 1], *records[place:]]
        for forged in (swapped, missing, twice):
            assert isinstance(await refused(engine, forged), InvalidArgument)


async def test_what_comes_after_the_end_is_refused() -> None:
    """Be it another end."""
    engine, records = await filled()

    assert "after the end" in str(await refused(engine, [*records, records[-1]]))


async def test_a_newer_layout_is_refused_with_both_versions() -> None:
    """It says which build can read it."""
    engine, records = await filled()
    head = Record.FromString(records[0])
    head.workspace.format_version = 2
    error = await refused(engine, sealed([head.SerializeToString(), *records[1:]]))

    assert error.reason == "ARCHIVE_TOO_NEW"
    assert "version 2" in str(error)
    assert "version 1" in str(error)


def _not_a_number(record: transfers_pb2.TransferRecord) -> None:
    record.vectors.vectors = np.full(3 * 4, np.nan, "<f4").tobytes()


def _zeros(record: transfers_pb2.TransferRecord) -> None:
    record.vectors.vectors = bytes(3 * 16)


def _wide(record: transfers_pb2.TransferRecord) -> None:
    record.vectors.dimension = 8


def _huge(record: transfers_pb2.TransferRecord) -> None:
    record.vectors.dimension = 2**31 - 1


def _half_a_row(record: transfers_pb2.TransferRecord) -> None:
    record.vectors.vectors += b"abc"


def _unknown_space(record: transfers_pb2.TransferRecord) -> None:
    record.vectors.space_id = "../../etc/passwd"


def _positions(record: transfers_pb2.TransferRecord) -> None:
    record.vectors.passage_positions[:] = [0, 0, 99]


def _windows(record: transfers_pb2.TransferRecord) -> None:
    record.vectors.window_counts[:] = [2**31 - 1] * 3


@pytest.mark.parametrize(
    "forge",
    [_not_a_number, _zeros, _wide, _huge, _half_a_row, _unknown_space, _positions, _windows],
)
async def test_forged_vectors_are_refused(
    forge: Callable[[transfers_pb2.TransferRecord], None],
) -> None:
    """Though counts and checksum were forged to fit."""
    engine, records = await filled()
    place = next(
        number
        for number, data in enumerate(records)
        if len(Record.FromString(data).vectors.passage_positions) == 3
    )
    record = Record.FromString(records[place])
    forge(record)
    records[place] = record.SerializeToString()

    assert isinstance(await refused(engine, sealed(records)), InvalidArgument)


async def test_forged_heads_are_refused() -> None:
    """A space twice, without a width, without vectors, or preferred and not there; a canary that is
    not one, settings out of range."""
    engine, records = await filled()

    def head(**fields: object) -> transfers_pb2.TransferRecord:
        record = Record.FromString(records[0])
        for name, value in fields.items():
            setattr(record.workspace, name, value)
        return record

    twice, nameless, flat, spare, canary, settings = (head() for _ in range(6))
    twice.workspace.spaces.append(twice.workspace.spaces[0])
    nameless.workspace.spaces.add(dimension=4)
    flat.workspace.spaces[0].dimension = 0
    spare.workspace.spaces.add(space_id="test/spare@1/4/l2/none", dimension=4)
    canary.workspace.spaces[0].canary_vector = b"abc"
    settings.workspace.settings.child_token_count = 1
    elsewhere = head(preferred_space_id="elsewhere")
    for forged in (twice, nameless, flat, spare, canary, settings, elsewhere):
        error = await refused(engine, sealed([forged.SerializeToString(), *records[1:]]))

        assert isinstance(error, InvalidArgument), forged


async def test_a_document_that_comes_twice_is_refused() -> None:
    """Though counts and checksum fit: a workspace holds an id once."""
    engine, records = await filled()
    twice = Record.FromString(records[1]).SerializeToString()
    error = await refused(engine, sealed([*records[:-1], twice, records[-1]]))

    assert "'rich-0' comes twice" in str(error)


async def test_documents_are_bounded_as_everywhere() -> None:
    """In passages and in bytes, however many records they come in."""
    engine, records = await filled()
    passages = await refused(engine, records, max_passages=3)
    size = await refused(engine, records, max_bytes=300)

    assert isinstance(passages, ResourceExhausted)
    assert isinstance(size, ResourceExhausted)
    assert passages.reason == size.reason == "DOCUMENT_TOO_LARGE"


async def test_a_slug_that_is_taken_is_refused_before_anything_is_stored() -> None:
    """The workspace of that slug stays as it is."""
    engine, records = await filled()
    await engine.create_workspace("taken", WorkspaceSettings())
    with pytest.raises(ServiceError, match="import under another slug") as caught:
        await imported(engine, records, "taken")

    assert caught.value.reason == "WORKSPACE_EXISTS"
    assert (await engine.describe_workspace("taken")).document_count == 0
