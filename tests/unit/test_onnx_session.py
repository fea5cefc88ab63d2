"""The session over onnxruntime's C interface gives what its Python module gives, and says what is wrong."""

from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from bridge.embedding import model_files, onnx_graph, onnx_session
from bridge.embedding.onnx_session import Port

GRAPH = model_files.DEFAULT_FOLDER / model_files.INT8_GRAPH.name
IDS = np.array([[101, 2339, 2024, 2111, 27858, 2041, 102]], np.int64)
GIVEN = {"input_ids": IDS, "attention_mask": np.ones_like(IDS), "token_type_ids": np.zeros_like(IDS)}


@pytest.mark.parametrize("optimised", [False, True])
@pytest.mark.parametrize("prepacked", [False, True])
def test_an_output_has_the_bits_of_the_python_modules(optimised: bool, prepacked: bool) -> None:
    options = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_EXTENDED if optimised else levels.ORT_DISABLE_ALL
    options.add_session_config_entry("session.disable_prepacking", "0" if prepacked else "1")
    (expected,) = onnxruntime.InferenceSession(GRAPH, options, providers=["CPUExecutionProvider"]).run(None, GIVEN)
    found = onnx_graph.open_session(GRAPH, optimised=optimised, prepacked=prepacked).run(GIVEN)
    assert (found.dtype, found.shape, found.tobytes()) == (np.float32, expected.shape, expected.tobytes())


def test_a_graphs_ports_are_named_with_their_numbers_and_rank(tmp_path: Path) -> None:
    session = onnx_graph.open_session(graph_of_texts(tmp_path))
    assert session.inputs == [Port("ids", "int64", 2)]
    assert session.outputs == [Port("texts", "", 2), Port("halves", "float16", 2), Port("list", "", 0)]


def test_an_output_is_chosen_by_name_and_one_of_texts_is_refused(tmp_path: Path) -> None:
    session = onnx_graph.open_session(graph_of_texts(tmp_path))
    assert session.run({"ids": np.array([[1, 2]], np.int64)[:, ::-1]}, "halves").tolist() == [[2.0, 1.0]]
    with pytest.raises(ValueError, match="no numbers"):
        session.run({"ids": IDS})


@pytest.mark.parametrize(
    ("given", "said"),
    [({}, "Missing Input"), (GIVEN | {"other": IDS}, "other"), (GIVEN | {"input_ids": IDS[0]}, "rank")],
)
def test_a_wrong_input_is_an_error_with_what_the_library_says(given: dict[str, Any], said: str) -> None:
    with pytest.raises(RuntimeError, match=said):
        onnx_graph.open_session(GRAPH).run(given)


def test_a_file_that_is_no_graph_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "ärger.onnx").write_text("no graph")
    with pytest.raises(RuntimeError, match=r"ärger\.onnx"):
        onnx_graph.open_session(tmp_path / "ärger.onnx")


@pytest.mark.parametrize("spec", [None, ModuleSpec("onnxruntime", None, origin="/nowhere/__init__.py")])
def test_a_missing_library_is_an_error(spec: ModuleSpec | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_session, "find_spec", lambda name: spec)
    with pytest.raises(OSError, match="library of onnxruntime"):
        onnx_session._Library()


def graph_of_texts(folder: Path) -> Path:
    """A graph that gives its ids as texts, as halves, and as a list of one tensor."""
    from onnx import TensorProto, helper, save

    nodes = [
        helper.make_node("Cast", ["ids"], ["texts"], to=TensorProto.STRING),
        helper.make_node("Cast", ["ids"], ["halves"], to=TensorProto.FLOAT16),
        helper.make_node("SequenceConstruct", ["halves"], ["list"]),
    ]
    shape = [1, None]
    outputs = [
        helper.make_tensor_value_info("texts", TensorProto.STRING, shape),
        helper.make_tensor_value_info("halves", TensorProto.FLOAT16, shape),
        helper.make_tensor_sequence_value_info("list", TensorProto.FLOAT16, shape),
    ]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("ids", TensorProto.INT64, shape)], outputs)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "texts.onnx")
    return folder / "texts.onnx"
