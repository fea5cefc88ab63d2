"""The rules of docs/architecture.md that a machine can hold, read from the code itself."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar, cast

import pytest

from jobs.errors import ERRORS

N = TypeVar("N", bound=ast.AST)
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("jobs", "bridge", "worker")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TOOLS = sorted((ROOT / "tools").rglob("*.py"))

# Packages, and the modules that are in none, from the ground up. Each imports from the lines below its own alone.
LAYERS = {
    "bridge": (
        "pattern stand_ins",
        "memory slices background critical privacy",
        "memory_shapes argument_table",
        "text embedding",
        "anchors",
        "reranking",
        "settings datapoints",
        "git_index user_settings",
        "trust",
        "team",
        "store",
        "trust_kept",
        "interface graph transfer",
        "search compaction",
        "forgetting capture standing",
        "operations",
        "retrieve ingest compact migrate_summaries",
    ),
    "worker": (
        "version wording",
        "documents",
        "log processes hooks stop_signals connections",
        "monitoring admin",
        "child",
        "scheduling doctor",
        "inbox team",
        "calls",
        "mcp",
        "pool",
        "gateway", "heartbeat", "http", "server", "app", "daemon", "terminal", "cli", "__main__",
    ),
}  # fmt: skip
# Where memories are stored, and every other SQLite file with its reason.
SQLITE = {
    "bridge/store/": "memory.db",
    "bridge/capture/readers/foreign_database.py": "databases in which other tools keep conversations: only read",
    "bridge/graph/cognee_cognify.py": "cognee's own database: what it notes of a text while it looks into it",
    "bridge/graph/earlier_stores.py": "cognee's database of an earlier version: read, and emptied by forgetting",
    "bridge/graph/graph_files.py": "cognee's own database: rewritten without deleted rows, and checked",
    "worker/scheduling/huey_queue.py": "Huey's database",
    "worker/doctor/queue.py": "Huey's database: looked at",
    "worker/doctor/installation.py": "the version of SQLite, and what it was built with",
}
# What other packages may import of bridge/store.
STORE_INTERFACE = {
    "opening": "opens the store and its readers",
    "open_store": "the store as a process that writes keeps it",
    "values": "the values that they take and return, and a change of memories",
    "catalogue": "the values of the query path",
    "history_digests": "the history without texts",
    "similar_ids": "errors about ids that do not exist",
    "vector_files": "the vector files, which queries map",
}
# What holds a connection: others get it from ``opening``, and name its type.
STORE_TYPES = {"store", "memories", "reader", "memory_lists", "llm_usage"}
# Imports of what belongs to SQLite or to this machine, each with its reason: (importer, module of bridge/store).
STORE_EXCEPTIONS = {
    ("bridge.operations.check", "audit"): "the job check reads memory.db with SQLite's own checks",
    ("bridge.operations.check", "graph_content"): "the same, for the graph",
    ("bridge.graph.cognee_store", "graph_content"): "what the graph lacks is found as a check finds it",
    ("worker.doctor.stores", "inspection"): "the doctor looks at memory.db, whatever its state",
    ("worker.doctor.stores", "migrations"): "the same: its format",
    ("worker.doctor.bundle", "inspection"): "the support archive has memory.db's schema and counts",
    ("bridge.transfer.export", "export_rows"): "which tables an export has",
    ("bridge.graph.graph_files", "quarantine"): "moves files of any kind aside",
    ("worker.pool.copies", "team.position"): "how far a copy is that cannot be read",
    ("worker.gateway.app", "team.row_checks"): "a row that no copy could apply is refused",
    ("worker.app", "mounts"): "whether the file system reports file events",
    ("worker.inbox.watcher", "mounts"): "the same",
    ("worker.doctor.machine", "mounts"): "the same, for the doctor",
}
# Where a path becomes a workspace: the call in the same function that checks its trust, links, owner and modes before
# anything in it is read or written, or a sentence that says why there is nothing to check.
WORKSPACES = {
    ("bridge.trust", "open_workspace"): "settings_of",
    ("bridge.search.query_client", "ask_for"): "settings_of",
    ("bridge.interface.submission", "work"): "submit",
    ("worker.hooks.hook", "_opened"): "require_trusted",
    ("worker.terminal.worktree_note", "worktree_note"): "settings_of",
    ("worker.terminal.demo", "demo"): "It makes a new folder, and starts a worker, which checks.",
    ("bridge.trust", "unlist"): "It reads the mark alone.",
    ("jobs.layout", "find_workspace"): "It makes paths; those who call it are here.",
    ("worker.cli", "_worktree_note"): "Of this folder the note looks at names alone.",
    ("worker.terminal.process_commands", "workspace_of"): "To stop, trust or remove; each call of MCP checks.",
    ("worker.terminal.doctor_command", "_workspace"): "The doctor says why a workspace is refused.",
    ("worker.inbox.provenance", "__init__"): "It reads git's index.",
    ("worker.child.main", "main"): "The worker that starts it has checked.",
    ("worker.server.main", "main"): "The worker has checked; the executor checks at each request.",
    ("worker.child.pool_main", "leave"): "It is a copy in the pool's private folder.",
    ("worker.child.pool_main", "stores_of"): "It is a copy in the pool's private folder.",
    ("worker.pool.copies", "use"): "It is a copy in the pool's private folder.",
    ("worker.pool.copies", "remove"): "It is a copy in the pool's private folder.",
    ("worker.pool.copies", "_look"): "It is a copy in the pool's private folder.",
    ("worker.pool.copies", "_used_at"): "It is a copy in the pool's private folder.",
    ("worker.pool.pool_worker", "__init__"): "It is a copy in the pool's private folder.",
    ("bridge.store.opening", "trial_copy"): "It is a copy in a private folder.",
    ("worker.gateway.reading", "__init__"): "It is a copy in the gateway's private folder.",
    ("worker.gateway.reading", "answer"): "It is a copy in the gateway's private folder.",
    ("worker.gateway.reading", "_place"): "It is a copy in the gateway's private folder.",
}
COGNEE = "audit cognify llm opening picture process search store upkeep writing".split()
STORE_VALUES = {*STORE_INTERFACE} - {"opening", "open_store", "vector_files"}
# What must not take long to load, and what would make it do so.
LIGHT = [
    ("bridge.text.template, bridge.text.references, bridge.text.memory_json",
     "pydantic cognee huey watchdog numpy asyncio"),
    ("bridge.embedding.embedder, bridge.embedding.local_models",
     "onnxruntime tokenizers httpx litellm fastembed huggingface_hub"),
    ("bridge.store.opening, bridge.store.values", "numpy cognee lancedb onnxruntime"),
    (", ".join(f"bridge.store.{name}" for name in sorted(STORE_VALUES)), "sqlite3"),
    ("bridge.search.session_start", "numpy"),  # each session of another tool waits for it
    ("bridge.retrieve, bridge.search.reader, bridge.search.retrieval", "bridge.anchors"),
]  # fmt: skip


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


@cache
def _nodes(path: Path) -> dict[type[ast.AST], list[ast.AST]]:
    """All nodes of a module by their type. A dozen tests look at those of every module."""
    found, left = defaultdict(list), [tree_of(path)]
    while left:
        node = left.pop()
        found[type(node)].append(node)
        for value in vars(node).values():
            left += [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST)]
    return found


def nodes_of(path: Path, kind: type[N]) -> list[N]:
    return cast(list[N], _nodes(path)[kind])


@cache
def imported(path: Path, *, types: bool = True) -> set[str]:
    """Full names of all that a module imports, inside functions too, and with ``types`` under TYPE_CHECKING."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    guards = [node for node in nodes_of(path, ast.If) if "TYPE_CHECKING" in vars(node.test).values()]
    skipped = set() if types else {id(each) for guard in guards for each in ast.walk(guard)}
    found = {alias.name for node in nodes_of(path, ast.Import) if id(node) not in skipped for alias in node.names}
    for node in nodes_of(path, ast.ImportFrom):
        if id(node) not in skipped:
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return found


def module_of(path: Path) -> str:
    """The dotted name of a module; a package's is that of its ``__init__``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def arrows() -> dict[str, set[str]]:
    """Which of our modules each of them imports, inside functions and under TYPE_CHECKING too."""
    paths = {module_of(path): path for path in (*MODULES, *TOOLS)}
    found: dict[str, set[str]] = {}
    for module, path in paths.items():
        found[module] = set()
        for name in imported(path):
            while name and name not in paths:
                name = name.rpartition(".")[0]
            if name and name != module:
                found[module].add(name)
    return found


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module (Tarjan)."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found = []

    def visit(module: str) -> None:
        numbers[module] = lowest[module] = len(numbers)
        path.append(module)
        for other in graph[module]:
            if other not in numbers:
                visit(other)
            if other in path:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == numbers[module]:
            component = path[path.index(module) :]
            del path[path.index(module) :]
            if len(component) > 1:
                found.append(sorted(component))

    for module in graph:
        if module not in numbers:
            visit(module)
    return found


def importers(package: str) -> set[str]:
    return {name_of(path) for path in MODULES if any(f"{name}.".startswith(f"{package}.") for name in imported(path))}


def who(kind: type[N], does: Callable[[N], object]) -> set[str]:
    """The modules in which some node of this type does that."""
    return {name_of(path) for path in MODULES if any(map(does, nodes_of(path, kind)))}


def texts(path: Path) -> set[str]:
    """The string constants of a module that are no docstrings."""
    skipped = {id(node.value) for node in nodes_of(path, ast.Expr)}
    constants = (node for node in nodes_of(path, ast.Constant) if id(node) not in skipped)
    return {node.value for node in constants if isinstance(node.value, str)}


# --- who may import whom ---


@pytest.mark.parametrize(
    ("package", "may_not"),
    [("jobs", ("bridge", "worker", "tests")), ("bridge", ("worker", "tests")), ("worker", ("tests",))],
)
def test_imports_follow_the_arrows(package: str, may_not: tuple[str, ...]) -> None:
    for path in MODULES:
        if path.relative_to(ROOT).parts[0] == package:
            wrong = {name for name in imported(path) if name.split(".")[0] in may_not}
            assert not wrong, name_of(path)


def test_every_package_has_its_place_in_the_order() -> None:
    for package, layers in LAYERS.items():
        named = [name for layer in layers for name in layer.split()]
        there = {
            path.stem for path in (ROOT / package).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
        }
        assert sorted(named) == sorted(there - {"__init__"})


@pytest.mark.parametrize("package", LAYERS)
def test_no_import_goes_up(package: str) -> None:
    floor = {f"{package}.{name}": number for number, layer in enumerate(LAYERS[package]) for name in layer.split()}
    wrong = set()
    for importer, others in arrows().items():
        for other in others:
            here, there = (".".join(module.split(".")[:2]) for module in (importer, other))
            if here in floor and there in floor and here != there and floor[there] >= floor[here]:
                wrong.add((importer, other))
    assert wrong == set()


def test_arrows_of_the_picture_in_the_docs_are_imports() -> None:
    """A line ``package ─▶ package, package`` in docs/architecture.md: some module of the first imports the others."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    drawn = {
        (importer, other)
        for importer, others in re.findall(r"^([a-z/]+) +─▶ ([a-z/, ]+)$", page, re.MULTILINE)
        for other in others.split(", ")
    }
    imported_by = {
        (importer.rpartition(".")[0].replace(".", "/"), other.rpartition(".")[0].replace(".", "/"))
        for importer, others in arrows().items()
        for other in others
    }
    assert len(drawn) > 30
    assert drawn - imported_by == set()


def test_the_picture_in_the_docs_shows_every_process() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    picture = page.partition("```text\n")[2].partition("\n## ")[0]
    processes = "terminal mcp server hooks inbox scheduling child team gateway pool".split()
    assert [name for name in processes if f"worker/{name}" not in picture] == []
    assert [name for name in processes if not (ROOT / "worker" / name).is_dir()] == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles({"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"d"}}) == [["a", "b", "c"]]
    assert circles(arrows()) == []


OWNERS = [
    ("cognee", {f"bridge/graph/cognee_{part}.py" for part in COGNEE}),
    ("huey", {"worker/scheduling/huey_queue.py"}),
    ("watchdog", {"worker/inbox/watcher.py"}),
    ("ladybug", {"bridge/graph/graph_files.py"}),
    ("onnxruntime", set()),  # its library is loaded instead: bridge/embedding/onnx_session.py
    ("mcp", {"worker/mcp/server.py"}),
    (
        "starlette",
        {"worker/http/", "worker/gateway/app.py", "worker/gateway/connections.py", "worker/gateway/transfers.py"},
    ),
    ("uvicorn", {"worker/connections.py", "worker/server/idle_server.py", "worker/gateway/serving.py"}),
    ("prometheus_client", {"worker/monitoring/metrics.py", "worker/gateway/gateway_metrics.py", "worker/pool/"}),
    ("rich", {"worker/terminal/"}),
    (
        "psutil",
        {"bridge/store/mounts.py", "worker/doctor/"}
        | {f"worker/{name}.py" for name in ("processes", "scheduling/graph_upkeep")},
    ),
    ("numpy", {f"bridge/{name}/" for name in "embedding reranking standing store search compaction capture".split()}),
    ("httpx", {"bridge/embedding/", "bridge/graph/", "bridge/reranking/", "bridge/team/gateway_team.py"}),
    ("psycopg", {f"bridge/team/{name}.py" for name in ("address", "people", "schema", "server")}),
    ("psycopg_pool", {"bridge/team/server.py"}),
    ("tokenizers", {"bridge/embedding/onnx_graph.py"}),
    ("platformdirs", {"bridge/settings.py"}),
    ("dotenv", {"bridge/settings.py", "worker/doctor/settings.py"}),
    ("argcomplete", {"worker/terminal/completion.py"}),
    ("lancedb", set()),
    ("pydantic_settings", set()),
    ("torch", set()),
]


@pytest.mark.parametrize(("package", "owner"), OWNERS)
def test_each_outside_thing_has_one_owner(package: str, owner: set[str]) -> None:
    """Owners are modules, and folders that end with a slash."""
    folders = {name for name in owner if name.endswith("/")}
    found = importers(package)
    inside = {name for name in found if any(name.startswith(folder) for folder in folders)}
    assert found - inside == owner - folders
    assert all(any(name.startswith(folder) for name in inside) for folder in folders)


def test_sqlite3_is_imported_in_bridge_store_only() -> None:
    homes = {home for name in importers("sqlite3") for home in SQLITE if name.startswith(home)}
    assert {name for name in importers("sqlite3") if not name.startswith(tuple(SQLITE))} == set()
    assert homes == SQLITE.keys(), "an exception is not needed any more"


def test_other_packages_import_of_the_store_what_is_listed() -> None:
    outside = {name: others for name, others in arrows().items() if not name.startswith("bridge.store")}
    taken = {
        (importer, other.removeprefix("bridge.store."))
        for importer, others in outside.items()
        for other in others
        if other.startswith("bridge.store.")
    }
    listed = STORE_INTERFACE.keys() | STORE_TYPES
    assert {(importer, other) for importer, other in taken if other not in listed} == STORE_EXCEPTIONS.keys()
    assert {other for _, other in taken} >= listed, "a module is not used outside any more"


def test_other_packages_import_what_holds_a_connection_for_its_type_alone() -> None:
    """So importing them loads no store, and ``opening`` alone says what a reader loads."""
    held = {f"bridge.store.{name}" for name in STORE_TYPES}
    for path in MODULES:
        if not name_of(path).startswith("bridge/store/"):
            assert {name.rpartition(".")[0] for name in imported(path, types=False)} & held == set(), name_of(path)


@pytest.mark.parametrize(("modules", "heavy"), LIGHT, ids=[modules.partition(",")[0] for modules, _ in LIGHT])
def test_what_has_to_be_quick_loads_nothing_that_is_heavy(modules: str, heavy: str) -> None:
    code = f"import sys, {modules}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert {*done.stdout.split()}.isdisjoint(heavy.split())


def test_cognees_owner_is_imported_only_where_the_graph_is_needed() -> None:
    loaded = {p: imported(p, types=p.name == "graph.py") for p in MODULES}
    found = {name_of(p) for p, others in loaded.items() if any("bridge.graph.cognee_store" in name for name in others)}
    assert found == {"bridge/graph/graph.py"}
    others = {
        "cognee_opening": ("store",),
        "cognee_upkeep": ("store",),
        "cognee_writing": ("audit", "cognify", "picture", "store", "upkeep"),
    }
    for part, by in others.items():
        importers = {name_of(p) for p in MODULES if any(n.startswith(f"bridge.graph.{part}") for n in imported(p))}
        assert importers == {f"bridge/graph/cognee_{each}.py" for each in by}
    for node in tree_of(ROOT / "bridge" / "graph" / "graph.py").body:
        assert not (isinstance(node, ast.ImportFrom) and node.module == "cognee_store"), "it takes seconds"


DESCRIBED = "worker/gateway/openapi.py"  # it describes the answers
HOOK = "worker/hooks/hook.py"


def test_one_module_reads_the_environment() -> None:
    names = ("environ", "environb", "getenv")
    readers = who(ast.Attribute, lambda node: node.attr in names)
    froms = [node for path in MODULES for node in nodes_of(path, ast.ImportFrom)]
    assert not {alias.name for node in froms if node.module == "os" for alias in node.names} & {*names}
    # The hook loads nothing of ours, since another tool waits for it; it hands its environment to the worker it starts.
    assert readers == {"bridge/settings.py", HOOK}


def test_one_module_knows_where_everything_lies() -> None:
    known = re.compile(r"\.cognee_\w+(/.*)?|\S*\bmemory\.db|\S*\bqueue\.db|heartbeat\.json|worker\.log")
    found = {(name_of(path), text) for path in MODULES for text in texts(path) if known.fullmatch(text)}
    assert {name for name, _ in found} == {"jobs/layout.py", HOOK, "worker/hooks/moments.py"}, found


def test_one_module_shapes_the_envelope() -> None:
    shapers = who(ast.Dict, lambda node: "success" in (getattr(key, "value", None) for key in node.keys))
    # A record has a field of that name too; it is no answer of a program.
    assert shapers - {"jobs/model.py", "jobs/schema.py", DESCRIBED} == {"bridge/interface/envelope.py"}


def test_one_module_writes_to_stdout_below_the_level_of_print() -> None:
    """``answer`` for programs; the child process keeps its own pipe to its parent, and the command line closes
    its stdout when the reader has gone."""
    writers = who(ast.Attribute, lambda node: ast.unparse(node) in ("os.dup2", "os.dup"))
    assert writers == {"bridge/interface/envelope.py", "worker/child/main.py", "worker/cli.py"}


def test_print_is_for_the_views_and_for_what_a_process_says_at_its_end() -> None:
    def prints(node: ast.Call) -> bool:
        files = [ast.unparse(keyword.value) for keyword in node.keywords if keyword.arg == "file"]
        return getattr(node.func, "id", None) == "print" and files != ["sys.stderr"]

    assert who(ast.Call, prints) == {"worker/terminal/output.py"}


# --- names and packaging ---


def test_no_module_of_bridge_bears_a_name_of_the_standard_library() -> None:
    """``python bridge/retrieve.py`` puts that folder first on the path."""
    names = {path.stem for path in (ROOT / "bridge").iterdir() if path.suffix == ".py" or path.is_dir()}
    assert not names & set(sys.stdlib_module_names)


def test_no_module_bears_a_name_that_says_nothing() -> None:
    banned = {"utils", "util", "helpers", "helper", "common", "base", "core", "manager", "service", "misc"}
    assert not {path.stem for path in MODULES} & banned


def test_every_module_says_what_it_owns() -> None:
    for path in MODULES:
        assert ast.get_docstring(tree_of(path)), name_of(path)


def test_the_packages_of_the_build_are_those_of_the_folders() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    folders = {
        path.parent.relative_to(ROOT).as_posix().replace("/", ".") for path in MODULES if path.name == "__init__.py"
    }
    assert set(project["tool"]["setuptools"]["packages"]) == folders
    assert {path.parent for path in MODULES} == {ROOT / name.replace(".", "/") for name in folders}


def test_what_is_imported_at_the_top_is_a_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    optional = project["optional-dependencies"]
    required = (*project["dependencies"], *optional["graph"], *optional["team"])
    declared = {re.split(r"[^\w.-]", line)[0].lower() for line in required}
    declared = {name.replace("python-dotenv", "dotenv").replace("-", "_") for name in declared}
    brought_along = {  # by cognee, pydantic and mcp
        "ladybug", "lance", "cognee_db_workers", "fastembed", "litellm", "openai", "huggingface_hub", "pydantic_core",
        "typing_extensions", "anyio",
    }  # fmt: skip
    ours = {*PACKAGES, "__future__"}
    for path in MODULES:
        outside = {name.split(".")[0] for name in imported(path)} - set(sys.stdlib_module_names) - ours
        assert outside <= declared | brought_along, name_of(path)


# --- errors ---


def codes_of(path: Path) -> set[str]:
    """The codes of the errors that a module makes."""
    found = set()
    for node in nodes_of(path, ast.Call):
        if "JobError" in vars(node.func).values() and node.args:
            found |= {c.value for c in ast.walk(node.args[0]) if isinstance(c, ast.Constant) and c.value != ""}
    return {code for code in found if isinstance(code, str)}


def test_every_code_that_is_raised_stands_in_the_table() -> None:
    for path in MODULES:
        assert {code for code in codes_of(path) if code.isupper()} <= set(ERRORS), name_of(path)


def test_every_code_of_the_table_is_used_or_documented() -> None:
    used = set().union(*(codes_of(path) for path in MODULES))
    used |= {text for path in MODULES if path.name != "errors.py" for text in texts(path)}
    documented = "\n".join(path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md"))
    assert {code for code in ERRORS if code not in used and f"`{code}`" not in documented} == set()


# --- one way to open a workspace ---


def calls_in(node: ast.AST) -> set[str]:
    functions = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
    return {each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in functions}


def workspaces_made_in(tree: ast.AST) -> Iterator[tuple[str, set[str]]]:
    """Each innermost function that turns a path into a workspace, with the names of what it calls."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):
            continue
        inner = list(workspaces_made_in(node))
        yield from inner
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not inner:
            calls = calls_in(node)
            if calls & {"Workspace", "find_workspace"}:
                yield node.name, calls


def test_a_workspace_is_opened_only_by_who_checks_it() -> None:
    found = {(module_of(path), name): calls for path in MODULES for name, calls in workspaces_made_in(tree_of(path))}
    assert found.keys() == WORKSPACES.keys()
    unchecked = [place for place, how in WORKSPACES.items() if " " not in how and how not in found[place]]
    assert unchecked == []


def test_a_reader_that_goes_round_the_check_is_found() -> None:
    source = "def read(path):\n    return reader_of(Workspace(path)).snapshot()\n"
    assert list(workspaces_made_in(ast.parse(source))) == [("read", {"reader_of", "Workspace", "snapshot"})]


# --- the formula of the score is in one module: no other computes with its weights or parts ---

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
    return {node.id for node in nodes_of(RANKING, ast.Name) if node.id.isupper()} - FOR_OTHERS


def operands(path: Path) -> Iterator[tuple[str, int]]:
    """The last names of all that is added, subtracted, multiplied, divided or raised, with their lines."""
    for node in nodes_of(path, ast.BinOp):
        if not isinstance(node.op, ast.BitOr | ast.BitAnd | ast.Mod):
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
        assert not {node.attr for node in nodes_of(path, ast.Attribute)} & weights(), name_of(path)


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
    def chooses(node: ast.BoolOp) -> bool:
        names = {ast.unparse(value).rpartition(".")[2] for value in node.values}
        return isinstance(node.op, ast.Or) and {"source_created_at", "created_at"} <= names

    assert who(ast.BoolOp, chooses) == {"bridge/memory.py"}
