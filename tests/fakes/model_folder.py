"""A tiny ONNX model with its tokenizer, made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "query:", "passage:", "prix", "gaz", "eau", "de"]
WIDTH = 4
TABLE = np.random.default_rng(3).normal(size=(len(WORDS), WIDTH)).astype(np.float32)


WORTH = np.array([[0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [1.0], [4.0], [0.25], [-0.5]])
"""What each word of a passage adds to the score of the tiny cross-encoder."""


def write_cross_encoder(
    folder: Path, *, classes: int = 1, broken_word: str = "", flat: bool = False, half: bool = False
) -> None:
    """Writes a model that adds up the worth of the words in the second text of a pair.

    With two classes, the first one's logit is the score turned negative. Pairs that hold
    `broken_word` get a score that is no number. `flat` logits have the shape (n,), `half` ones are
    float16.
    """
    worth = WORTH.astype(np.float32).copy()
    if broken_word:
        worth[WORDS.index(broken_word)] = np.nan
    table = np.hstack({1: [worth], 2: [-worth, worth], 3: [worth, worth, worth]}[classes])
    axis = numpy_helper.from_array(np.array([1], dtype=np.int64), "axis")
    last = numpy_helper.from_array(np.array([2], dtype=np.int64), "last")
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["words"], axis=0),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["second", "last"], ["mask"]),
        helper.make_node("Mul", ["words", "mask"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "axis"], ["logits"], keepdims=0),
    ]
    nodes[-1].output[0] = "sums"
    if flat:
        nodes.append(helper.make_node("Squeeze", ["sums", "axis"], ["shaped"]))
    else:
        nodes.append(helper.make_node("Identity", ["sums"], ["shaped"]))
    kind = TensorProto.FLOAT16 if half else TensorProto.FLOAT
    nodes.append(helper.make_node("Cast", ["shaped"], ["logits"], to=kind))
    names = ["input_ids", "attention_mask", "token_type_ids"]
    _write(
        folder,
        nodes,
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in names],
        helper.make_tensor_value_info("logits", kind, ["n"] if flat else ["n", classes]),
        [numpy_helper.from_array(np.ascontiguousarray(table), "table"), axis, last],
    )


def write_model(folder: Path, *, pooled: bool = False, extra_input: str = "") -> None:
    """Writes a model whose token vectors are the rows of TABLE.

    With `pooled`, its output is one vector a text, their plain sum.
    """
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["states"], axis=0)]
    output = helper.make_tensor_value_info("states", TensorProto.FLOAT, ["n", "t", WIDTH])
    initializers = [numpy_helper.from_array(TABLE, "table")]
    if pooled:
        axes = numpy_helper.from_array(np.array([1], dtype=np.int64), "axes")
        initializers.append(axes)
        nodes.append(helper.make_node("ReduceSum", ["states", "axes"], ["pooled"], keepdims=0))
        output = helper.make_tensor_value_info("pooled", TensorProto.FLOAT, ["n", WIDTH])
    names = ["input_ids", "attention_mask", *([extra_input] if extra_input else [])]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in names]
    _write(folder, nodes, inputs, output, initializers)


def _write(
    folder: Path,
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    output: onnx.ValueInfoProto,
    initializers: list[onnx.TensorProto],
) -> None:
    graph = helper.make_graph(nodes, "tiny", inputs, [output], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer()))


def _tokenizer() -> dict[str, object]:
    special = [
        {
            "id": at,
            "content": WORDS[at],
            "special": True,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
        }
        for at in range(4)
    ]
    template = [
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": template,
            "pair": [
                *template,
                {"Sequence": {"id": "B", "type_id": 1}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 1}},
            ],
            "special_tokens": {
                name: {"id": name, "ids": [WORDS.index(name)], "tokens": [name]}
                for name in ("[CLS]", "[SEP]")
            },
        },
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: at for at, word in enumerate(WORDS)},
            "unk_token": "[UNK]",
        },
    }
