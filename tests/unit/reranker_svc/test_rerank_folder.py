"""A cross-encoder from a folder: pairs, cuts, batches, and words for a folder that is no use."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from chassis.channel import open_channel
from chassis.deadline import Deadline
from chassis.errors import DeadlineExceeded, Unavailable
from chassis.metrics import Metrics
from chassis.onnx_folder import OnnxFolder
from justesse.reranker.v1 import reranker_pb2 as pb
from justesse.reranker.v1 import reranker_pb2_grpc
from reranker_svc.bill import Bill
from reranker_svc.folder.cross_encoder import CrossEncoder
from reranker_svc.folder.folder_model import FolderModel
from reranker_svc.passage_model import Passage
from reranker_svc.service import running_reranker
from reranker_svc.settings import RerankerSettings

pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")
pytest.importorskip("onnx")

from tests.fakes.model_folder import TABLE, write_cross_encoder, write_model

QUESTION = "prix gaz"
PASSAGES = (
    Passage("", "de de"),
    Passage("", "prix prix"),
    Passage("", "gaz"),
    Passage("gaz", "prix eau"),
)
SCORES = (-1.0, 2.0, 4.0, 5.25)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the tiny cross-encoder."""
    path = tmp_path / "tiny-reranker"
    path.mkdir()
    write_cross_encoder(path)
    return path


@asynccontextmanager
async def model_of(
    folder: Path, *, input_tokens: int = 128, batch_tokens: int = 4096
) -> AsyncIterator[FolderModel]:
    model = FolderModel(CrossEncoder(folder, input_tokens=input_tokens, batch_tokens=batch_tokens))
    async with model.running():
        yield model


def soon() -> Deadline:
    return Deadline.after(30.0)


@pytest.mark.parametrize("classes", [1, 2])
async def test_each_passage_is_scored_with_the_question(folder: Path, classes: int) -> None:
    """Words of the question count nothing; of two classes the second less the first counts."""
    write_cross_encoder(folder, classes=classes)
    async with model_of(folder) as model:
        bill = Bill(may_pay=False)
        answer = await model.order(QUESTION, PASSAGES, soon(), bill)

    assert answer.order == (3, 2, 1, 0)
    assert answer.scores == tuple(score * classes for score in SCORES)
    assert bill.input_token_count == 4 * 5 + 2 + 2 + 1 + 3
    assert (bill.cost, answer.provider, answer.model) == (0.0, "folder", "tiny-reranker")


async def test_batches_change_nothing(folder: Path) -> None:
    """Bounded by tokens, in any split, each passage keeps its own score."""
    encoder = CrossEncoder(folder, input_tokens=128, batch_tokens=16)
    pairs = list(encoder.pairs(QUESTION, [passage.titled_text for passage in PASSAGES]))
    batches = list(encoder.batches(pairs))
    async with model_of(folder, batch_tokens=16) as model:
        answer = await model.order(QUESTION, PASSAGES, soon(), Bill(may_pay=False))

    assert sorted(index for batch in batches for index in batch) == [0, 1, 2, 3]
    assert all(len(batch) * max(len(pairs[at].ids) for at in batch) <= 16 for batch in batches)
    assert len(batches) == 2
    assert answer.scores == SCORES


async def test_a_pair_longer_than_a_batch_goes_alone(folder: Path) -> None:
    """It is not left out, and does not end the work."""
    encoder = CrossEncoder(folder, input_tokens=128, batch_tokens=8)
    pairs = list(encoder.pairs(QUESTION, ["gaz " * 50, "gaz", "prix"]))

    assert list(encoder.batches(pairs)) == [[0], [1], [2]]


async def test_long_texts_are_cut_to_the_input(folder: Path) -> None:
    """The end of the passage goes first; of a question that fills the input, its own end."""
    encoder = CrossEncoder(folder, input_tokens=64, batch_tokens=4096)

    [long_passage] = encoder.pairs(QUESTION, ["gaz " * 100])
    [long_question] = encoder.pairs("prix " * 100, ["gaz " * 100])
    [short] = encoder.pairs(QUESTION, ["gaz"])

    assert len(long_passage.ids) == 64
    assert long_passage.types.count(0) == len(short.ids) - 2
    assert len(long_question.ids) == 64
    assert long_question.types.count(1) >= 30
    assert encoder.scores([long_passage]).tolist() == [4.0 * (64 - 5)]


async def test_what_cannot_fit_is_not_read_to_its_end(folder: Path) -> None:
    """A megabyte without a word takes no longer than what the input may hold of it."""
    encoder = CrossEncoder(folder, input_tokens=64, batch_tokens=4096)
    long_text, long_question = "gaz" + " " * 64 * 16 + "prix", "prix" + " " * 64 * 16 + "gaz"
    pairs = list(encoder.pairs(long_question, [long_text]))

    assert pairs == list(encoder.pairs("prix", ["gaz"]))


@pytest.mark.parametrize(("flat", "half"), [(True, False), (False, True), (True, True)])
async def test_logits_come_in_any_shape_and_width(folder: Path, flat: bool, half: bool) -> None:
    """One number a pair without an axis of its own, or in half precision."""
    write_cross_encoder(folder, flat=flat, half=half)
    async with model_of(folder) as model:
        answer = await model.order(QUESTION, PASSAGES, soon(), Bill())

    assert answer.scores == SCORES


@pytest.mark.parametrize(("name", "padding_id"), [("[PAD]", 0), ("<pad>", 4), ("none", 0)])
async def test_rows_are_padded_with_the_tokenizers_own_token(
    folder: Path, name: str, padding_id: int
) -> None:
    """RoBERTa's kind counts positions by it; the vectors of a row are those of its tokens."""
    write_model(folder)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    if name != "[PAD]":
        tokenizer["added_tokens"] = tokenizer["added_tokens"][1:]
        vocabulary["unused"] = vocabulary.pop("[PAD]")
        vocabulary[name] = vocabulary.pop("query:")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    model = OnnxFolder(folder)
    model.load()

    vectors = model.run([[6, 7], [8]])

    assert np.array_equal(vectors, TABLE[[[6, 7], [8, padding_id]]])


async def test_the_work_ends_with_its_deadline(folder: Path) -> None:
    """Between two batches, so that nobody's next question waits for it."""
    async with model_of(folder) as model:
        with pytest.raises(DeadlineExceeded):
            await model.order(QUESTION, PASSAGES, Deadline.after(0.0), Bill(may_pay=False))


async def test_a_score_that_is_no_number_is_a_failure(folder: Path) -> None:
    """It would sort at random."""
    write_cross_encoder(folder, broken_word="eau")
    async with model_of(folder) as model:
        with pytest.raises(Unavailable, match="no finite number") as caught:
            await model.order(QUESTION, PASSAGES, soon(), Bill(may_pay=False))

    assert caught.value.reason == "MODEL_FAILED"


@pytest.mark.parametrize("damage", ["missing", "weights", "tokenizer", "classes"])
async def test_an_unusable_folder_is_told_in_words(folder: Path, damage: str) -> None:
    """The folder is named, and what it must hold."""
    if damage == "missing":
        (folder / "model.onnx").unlink()
    elif damage == "weights":
        (folder / "model.onnx").write_bytes(b"no model")
    elif damage == "tokenizer":
        (folder / "tokenizer.json").write_text("{}")
    else:
        write_cross_encoder(folder, classes=3)

    with pytest.raises(Unavailable, match=r"tiny-reranker.*tokenizer\.json") as caught:
        async with model_of(folder) as model:
            await model.order(QUESTION, PASSAGES, soon(), Bill(may_pay=False))

    assert caught.value.reason == "MODEL_NOT_LOADED"


async def test_the_event_loop_stays_free(folder: Path) -> None:
    """The model works on a thread of its own."""
    async with model_of(folder) as model:
        turns = 0
        call = asyncio.create_task(
            model.order(QUESTION, PASSAGES * 50, soon(), Bill(may_pay=False))
        )
        while not call.done():
            turns += 1
            await asyncio.sleep(0)

    assert turns > 2
    assert len(call.result().order) == 200


async def test_the_service_serves_a_folder(folder: Path) -> None:
    """Settings name it; the answer over gRPC is the model's."""
    settings = RerankerSettings(
        port=0, drain_grace_s=0.0, implementations=("folder", "formula"), folder_path=folder
    )
    request = pb.RerankPassagesRequest(
        question=QUESTION,
        candidates=[
            pb.Candidate(passage_id=f"p{at}", title=passage.title, text=passage.text)
            for at, passage in enumerate(PASSAGES)
        ],
    )
    async with (
        running_reranker(settings, metrics=Metrics()) as server,
        open_channel(server.address, metrics=Metrics()) as channel,
    ):
        answer = await reranker_pb2_grpc.RerankerServiceStub(channel).RerankPassages(request)

    assert [passage.passage_id for passage in answer.passages] == ["p3", "p2", "p1", "p0"]
    assert answer.report.outcome == pb.STAGE_OUTCOME_RAN
    assert (answer.report.provider, answer.report.model) == ("folder", "tiny-reranker")


async def test_a_service_with_an_unusable_folder_does_not_start(tmp_path: Path) -> None:
    """Its operator learns it at once, instead of from worse answers."""
    settings = RerankerSettings(
        port=0, implementations=("folder", "formula"), folder_path=tmp_path / "nothing"
    )

    with pytest.raises(Unavailable, match="nothing"):
        async with running_reranker(settings, metrics=Metrics()):
            pytest.fail("it has started")
