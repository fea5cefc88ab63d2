"""The formula of the score is in bridge/search/ranking.py alone: no other module computes with its weights or parts."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from test_architecture import MODULES, ROOT, imported, name_of, nodes_of

RANKING = ROOT / "bridge" / "search" / "ranking.py"
FOR_OTHERS = {"COMPONENT_WEIGHTS", "RERANKED_WEIGHTS", "ABOVE_ANY_SCORE"}
"""Made of the weights for other modules, to be reported or compared."""
PARTS = {
    "semantic_score", "vector_score", "lexical_score", "rerank_score", "recency_multiplier", "status_multiplier",
    "half_life_days", "recency_floor", "alpha", "dated",
}  # fmt: skip
OTHERS = [path for path in MODULES if path != RANKING and path.relative_to(ROOT).parts[0] != "jobs"]


def weights() -> set[str]:
    """The constants of the module."""
    names = (node.id for node in nodes_of(RANKING) if isinstance(node, ast.Name))
    return {name for name in names if name.isupper()} - FOR_OTHERS


def operands(path: Path) -> Iterator[tuple[str, int]]:
    """The last names of all that is added, subtracted, multiplied, divided or raised, with their lines."""
    for node in nodes_of(path):
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.BitOr | ast.BitAnd | ast.Mod):
            for side in (node.left, node.right):
                if isinstance(side, ast.Attribute):
                    yield side.attr, node.lineno
                elif isinstance(side, ast.Name):
                    yield side.id, node.lineno


def test_the_weights_are_imported_by_no_other_module() -> None:
    assert {"VECTOR_WEIGHT", "NAME_SHARE", "STATUS_MULTIPLIERS", "BM25_K1"} <= weights()
    for path in OTHERS:
        taken = {name.rpartition(".")[2] for name in imported(path) if name.startswith("bridge.search.ranking.")}
        assert not taken & weights(), name_of(path)
        reached = {node.attr for node in nodes_of(path) if isinstance(node, ast.Attribute)}
        assert not reached & weights(), name_of(path)


def test_no_other_module_computes_with_the_parts_of_a_score() -> None:
    found = [(name_of(path), *operand) for path in OTHERS for operand in operands(path) if operand[0] in PARTS]
    assert found == []
    assert {name for name, _ in operands(RANKING)} & PARTS


def test_the_page_draws_the_parts_of_a_score_as_they_are_answered() -> None:
    names = "|".join({*PARTS, "kind_bonus", "semantic_boost"} - {"dated"})
    computed = re.compile(rf"\b(?:{names})\s*[-+*/]\s")
    for path in sorted((ROOT / "worker" / "page").glob("*.js")):
        assert not computed.search(path.read_text("utf-8")), path.name


def test_one_module_says_when_the_age_of_a_memory_begins() -> None:
    choosing = set()
    for path in MODULES:
        for node in nodes_of(path):
            if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
                names = {ast.unparse(value).rpartition(".")[2] for value in node.values}
                if {"source_created_at", "created_at"} <= names:
                    choosing.add(name_of(path))
    assert choosing == {"bridge/memory.py"}
