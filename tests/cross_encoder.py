"""A real cross-encoder in ONNX, small enough to be made in a test: it judges by the share of the query's words that
the text contains."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def make(folder: Path, texts: Iterable[str], *, steep: float = 6.0, outputs: int = 1) -> Path:
    """Write model.onnx and tokenizer.json, which knows the words of ``texts``.

    The logit of a pair is ``steep`` * share - ``steep`` / 2. A model of more ``outputs`` repeats it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(_graph(steep, outputs), folder / "model.onnx")
    words = sorted({word for text in texts for word in re.findall(r"\w+|[^\w\s]+", text.lower())})
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_padding(length=128)  # as published ones do; it must not reach the model
    tokenizer.enable_truncation(16)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def _graph(steep: float, outputs: int) -> Any:
    constants = {
        "axis_1": np.array([1], np.int64), "axis_2": np.array([2], np.int64), "first_word": np.array(5, np.int64),
        "one": np.array(1, np.float32), "steep": np.array(steep, np.float32),
        "half": np.array(steep / 2, np.float32), "repeats": np.array([1, outputs], np.int64),
    }  # fmt: skip
    nodes = [
        ("Unsqueeze", ["input_ids", "axis_2"], "rows", {}),
        ("Unsqueeze", ["input_ids", "axis_1"], "columns", {}),
        ("Equal", ["rows", "columns"], "same", {}),
        ("Cast", ["same"], "same_f", {"to": TensorProto.FLOAT}),
        ("Mul", ["token_type_ids", "attention_mask"], "text", {}),
        ("Cast", ["text"], "text_f", {"to": TensorProto.FLOAT}),
        ("Unsqueeze", ["text_f", "axis_1"], "text_columns", {}),
        ("Mul", ["same_f", "text_columns"], "found", {}),
        ("ReduceMax", ["found", "axis_2"], "hit", {"keepdims": 0}),
        ("GreaterOrEqual", ["input_ids", "first_word"], "word", {}),
        ("Cast", ["word"], "word_f", {"to": TensorProto.FLOAT}),
        ("Sub", ["one", "text_f"], "not_text", {}),
        ("Mul", ["word_f", "not_text"], "asked", {}),
        ("Mul", ["asked", "hit"], "asked_hit", {}),
        ("ReduceSum", ["asked_hit", "axis_1"], "hits", {"keepdims": 1}),
        ("ReduceSum", ["asked", "axis_1"], "count", {"keepdims": 1}),
        ("Max", ["count", "one"], "at_least_one", {}),
        ("Div", ["hits", "at_least_one"], "share", {}),
        ("Mul", ["share", "steep"], "raised", {}),
        ("Sub", ["raised", "half"], "logit", {}),
        ("Tile", ["logit", "repeats"], "logits", {}),
    ]
    graph = helper.make_graph(
        [helper.make_node(operator, inputs, [output], **more) for operator, inputs, output, more in nodes],
        "words-in-common",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "seq"]) for name in INPUTS],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", outputs])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
