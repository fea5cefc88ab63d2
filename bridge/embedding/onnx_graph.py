"""Opens the ONNX graphs and tokenizers of models, with one set of options.

onnxruntime and tokenizers are imported when one is opened.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


def open_session(graph: Path, *, threads: int = 1, optimised: bool = True, prepacked: bool = True) -> Any:
    """A session of the graph on the processor. ``threads``: inside one run.

    ``optimised``: fuse operators, which exported graphs need. ``prepacked``: arrange the weights for this processor. In
    a new process of one question, both may cost more than they save. Raises what onnxruntime raises.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised too
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_EXTENDED if optimised else levels.ORT_DISABLE_ALL
    options.enable_cpu_mem_arena = False  # it would keep the memory of the longest text
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_session_config_entry("session.disable_prepacking", "0" if prepacked else "1")
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # spinning would waste processor time
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])


def inputs_of(session: Any) -> frozenset[str]:
    """The names of the graph's inputs. Raises ValueError if it has others than an encoder of texts."""
    inputs = session.get_inputs()
    if not all(each.type == "tensor(int64)" and each.name in INPUTS for each in inputs):
        named = ", ".join(f"{each.name} {each.type}" for each in inputs)
        raise ValueError(f"it has other inputs than an encoder of texts: {named}")
    return frozenset(each.name for each in inputs)


def open_tokenizer(path: Path) -> Any:
    """The tokenizer in a ``tokenizer.json``, which neither pads nor cuts. Raises what the library raises."""
    from tokenizers import Tokenizer

    result = Tokenizer.from_file(str(path))
    result.no_padding()
    result.no_truncation()
    return result


def first_line(error: Exception) -> str:
    """The first line of a library's error, at most 200 characters, without its full stop."""
    lines = str(error).strip().splitlines()
    return lines[0][:200].rstrip(".") if lines else type(error).__name__
