"""The pages in docs/, the README.md and the changelog: what they show is what the program has, takes and computes."""

import ast
import doctest
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any, TypeVar

import jsonschema_rs
import pytest
from contract import published
from harness import PATIENCE

from bridge.settings import load
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.parse import parse_job
from tools import docs_tables
from worker.cli import OTHER_NAMES, parser

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
DOCS = sorted((ROOT / "docs").glob("*.md"))
OTHERS = ("README.md", "CHANGELOG.md", "bridge/README.md", "docs/schemas/README.md")
PAGES = [*DOCS, *(ROOT / path for path in OTHERS)]

_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_TEST = re.compile(r"`((?:tests/)?\w+(?:/\w+)*/test_\w+\.py)(?:::(\w+))?`")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@cache
def text(page: Path) -> str:
    return page.read_text("utf-8")


def blocks(page: Path, language: str) -> list[tuple[str, str]]:
    """The fenced blocks of a language: what stands behind its name, and the content."""
    found = (([*info.split(" ", 1), ""], content) for info, content in _BLOCK.findall(text(page)))
    return [(words[1].strip(), content) for words, content in found if words[0] == language]


def prose(page: Path) -> str:
    return _BLOCK.sub("", text(page))


def commands(page: Path) -> list[str]:
    """Every ``cognee-memory …`` in backticks, in the lines of a shell block and behind the prompt of a session."""
    inline = re.findall(r"`(cognee-memory [^`]+)`", unescape(prose(page)))
    return inline + [line for line in shell_lines(page) if line.startswith("cognee-memory ")]


def shell_lines(page: Path) -> list[str]:
    """What a reader would type: lines that are continued are one line."""
    typed = [block for _, block in blocks(page, "sh")]
    typed += ["\n".join(re.findall(r"^\$ (.*)$", block, re.MULTILINE)) for _, block in blocks(page, "console")]
    return [line for block in typed for line in re.sub(r"\\\n\s*", " ", block).splitlines() if line.strip()]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


JSON_BLOCKS = [(f"{name(page)}: {kind}", kind, content) for page in DOCS for kind, content in blocks(page, "json")]
PROGRAMS = {
    *("cd", "cp", "curl", "docker", "git", "install", "loginctl", "mkdir", "mv", "node", "npx", "openssl", "ssh"),
    *("systemctl", "touch", "umask", "xargs", "pg_basebackup", "pg_ctl", "pg_dump", "pg_rewind"),
    *(".", "claude", "cognee-memory", "make", "optimum-cli", "pip", "pipx", "python", "python3"),
}  # fmt: skip


def wrong_in(places: Iterable[T], check: Callable[[T], None]) -> list[str]:
    """The places whose check fails, each with what it says."""
    wrong = []
    for place in places:
        try:
            check(place)
        except Exception as error:
            where = name(place) if isinstance(place, Path) else str(place)
            wrong.append(f"{where}: {error!r}")
    return wrong


def on_every_page(check: Callable[[Path], None]) -> Callable[[], None]:
    """The test that every page passes the check; it names all that do not."""

    def test() -> None:
        assert wrong_in(PAGES, check) == []

    test.__name__, test.__doc__ = check.__name__, check.__doc__
    return test


@pytest.mark.parametrize("table", docs_tables.TABLES)
def test_a_generated_table_is_current(table: str) -> None:
    page = text(docs_tables.page_of(table))
    assert page == docs_tables.renewed(table, page), "run: python -m tools.docs_tables"


def test_a_page_without_the_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="markers"):
        docs_tables.renewed("errors", "# Errors\n")


def test_a_json_block_is_what_it_says() -> None:
    """Behind ``json`` stands the name of a schema; a job also goes through the real parser, and so does a payload."""
    assert wrong_in(JSON_BLOCKS, lambda block: check_block(block[1], block[2])) == []


def check_block(kind: str, content: str) -> None:
    value = json.loads(content, object_pairs_hook=named_once)
    kind = kind.split(" ")[0]  # behind it may stand the name of a file, for the tutorial
    assert kind, "say behind ```json which of docs/schemas it is"
    if kind == "summary":
        kind, value = "payload.ingest", {"summary": value}
    validator(kind).validate(value)
    job: dict[str, Any] | None = value if kind == "job" else None
    if kind.startswith("payload."):
        job = {"schema_version": 1, "job_id": "x", "kind": kind.removeprefix("payload."), "payload": value}
    if job is not None:
        parse_job(job["job_id"], json.dumps(job).encode())


@cache
def validator(kind: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(published(kind))


@on_every_page
def test_json_without_a_schema_is_json_all_the_same(page: Path) -> None:
    for _, content in blocks(page, "jsonc"):
        json.loads(content, object_pairs_hook=named_once)


def named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs), [each for each, _ in pairs]
    return dict(pairs)


def test_the_pages_hold_commands_and_json_of_every_kind_that_an_asker_meets() -> None:
    assert len({command for page in PAGES for command in commands(page)}) > 25, "in prose and in blocks"
    kinds = {kind for _, kind, _ in JSON_BLOCKS}
    assert kinds >= {"job", "record", "reason", "control", "heartbeat", "payload.ingest", "payload.set_status"}


@on_every_page
def test_every_command_is_one_that_the_program_has(page: Path) -> None:
    program = parser()
    for command in commands(page):
        try:
            name, *others = shlex.split(command, comments=True)[1:]
            program.parse_args([*OTHER_NAMES.get(name, name).split(), *others])
        except SystemExit as done:
            if done.code:  # --help ends well
                raise AssertionError(command) from None
        except JobError as error:
            raise AssertionError(command) from error


@on_every_page
def test_every_line_of_a_shell_block_is_a_command_that_a_reader_has(page: Path) -> None:
    """Ours are parsed by their own tests; a script, a module or a target that is named is there."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for line in shell_lines(page):
        words = shlex.split(line, comments=True)
        if not words or re.match(r"\w+=", words[0]) or words[0] == "export":
            continue
        assert words[0].rpartition("/")[2] in PROGRAMS, line
        if words[0] == "make" and len(words) > 1:
            assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), line
        if words[0].startswith("python") and words[1].endswith(".py"):
            assert (ROOT / words[1]).is_file(), line
        if words[0].startswith("python") and words[1] == "-m" and words[2] not in ("pip", "venv"):
            assert (ROOT / words[2].replace(".", "/")).with_suffix(".py").is_file() or (ROOT / words[2]).is_dir(), line
        if words[0].startswith("python") and words[1] == "-c":
            compile(words[2], line, "exec")


@pytest.mark.parametrize("script", ["ingest", "retrieve", "compact", "migrate_summaries"])
def test_the_options_that_the_pages_give_a_script_are_those_that_it_takes(script: str) -> None:
    lines = [line for page in PAGES for line in shell_lines(page) if line.startswith(f"python bridge/{script}.py")]
    asked = {word.partition("=")[0] for line in lines for word in shlex.split(line) if word.startswith("--")}
    help_text = subprocess.run(
        [sys.executable, str(ROOT / "bridge" / f"{script}.py"), "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert asked <= set(re.findall(r"--[a-z-]+", help_text))


@pytest.mark.parametrize(
    "page", ["README.md", "docs/tutorial.md", "docs/build-on-it.md", "docs/operations.md"], ids=str
)
def test_a_page_that_says_how_to_remove_everything_names_every_folder(page: str) -> None:
    for folder in Workspace(ROOT).own_folders:
        assert re.search(rf"`{re.escape(folder.name)}/?`", text(ROOT / page)), folder.name


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    to_see = [ROOT / "README.md"]
    while to_see:
        page = to_see.pop()
        if page not in seen:
            seen.add(page)
            links = [link.partition("#")[0] for link in _LINK.findall(prose(page)) if "://" not in link]
            to_see += [(page.parent / link).resolve() for link in links if link.endswith(".md")]
    assert set(PAGES) <= seen, sorted(name(page) for page in set(PAGES) - seen)


@on_every_page
def test_every_route_that_a_page_names_is_served(page: Path) -> None:
    """In backticks with its method, and in the addresses that curl is given."""
    served = json.loads(text(ROOT / "worker" / "data" / "openapi.json"))["paths"]
    known = {
        (method.upper(), re.compile(re.sub(r"\{\w+\}", "[^/]+", path))) for path in served for method in served[path]
    }
    named = re.findall(r"`(GET|POST) (/[^\s`?]*)", prose(page))
    for line in shell_lines(page):
        if line.startswith("curl "):
            words = shlex.split(line)
            path = next(
                re.sub(r"^(\$\w+|https?://[^/]+)|\?.*", "", word) for word in words if re.match(r"\$\w+/|http", word)
            )
            named.append(("POST" if "-d" in words or "POST" in words else "GET", path))
    for method, path in named:
        assert any(method == known_method and shape.fullmatch(path) for known_method, shape in known), path


def test_what_is_shown_as_a_session_is_run() -> None:
    """A block with a prompt shows output, and output has to be compared: these pages' tests do."""
    run = {"README.md": "test_readme.py", "docs/tutorial.md": "integration/test_tutorial.py"}
    assert {name(page) for page in PAGES if blocks(page, "console")} <= set(run)
    assert all((ROOT / "tests" / test).is_file() for test in run.values())


def test_the_version_is_the_same_everywhere() -> None:
    version = re.search(r'^version = "(.+)"$', text(ROOT / "pyproject.toml"), re.MULTILINE)[1]  # type: ignore[index]
    newest = re.search(r"^## (?!Unreleased)(\S+)", text(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert newest[1] == version
    examples = (ROOT / "docs" / "schemas" / "examples").glob("*.json")
    shown = [text(page) for page in (*PAGES, *examples)]
    said = {found for one in shown for found in re.findall(r'"(?:program_)?version": "([\d.]+)"', one)}
    assert said <= {version}


@on_every_page
def test_every_link_leads_to_a_page_and_a_heading(page: Path) -> None:
    for link in _LINK.findall(prose(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@on_every_page
def test_every_file_of_the_program_that_is_named_exists(page: Path) -> None:
    """Those that docs/recipes.md creates have their own test."""
    named = set(re.findall(r"`((?:jobs|bridge|worker|tools|benchmarks)/[\w/]+\.(?:py|js))`", text(page)))
    if page.name == "recipes.md":
        named -= {"bridge/operations/echo.py", "worker/terminal/kinds/echo.py"}
    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []


@on_every_page
def test_no_cell_of_a_table_has_more_than_300_characters(page: Path) -> None:
    rows = [line for line in prose(page).splitlines() if line.startswith("|")]
    cells = [cell.strip() for row in rows for cell in re.split(r"(?<!\\)\|", row)]
    assert [cell[:60] for cell in cells if len(cell) > 300] == []


@on_every_page
def test_every_test_that_is_named_exists(page: Path) -> None:
    for file, function in _TEST.findall(text(page)):
        path = ROOT / ("" if file.startswith("tests/") else "tests") / file
        assert path.is_file(), file
        if function:
            assert re.search(rf"^ *(async )?def {function}\(", path.read_text("utf-8"), re.MULTILINE), function


@on_every_page
def test_every_computation_gives_what_is_shown(page: Path) -> None:
    for number, (_, content) in enumerate(blocks(page, "pycon")):
        shown = doctest.DocTestParser().get_doctest(content, {}, f"{name(page)}-{number}", str(page), 0)
        assert doctest.DocTestRunner(verbose=False).run(shown).failed == 0


def test_every_configuration_file_is_read(tmp_path: Path) -> None:
    def check(page: Path) -> None:
        for _, content in blocks(page, "toml"):
            (tmp_path / "config.toml").write_text(content, "utf-8")
            assert len(load({"config_dir": tmp_path}, environment={}).sources) > 1

    assert wrong_in(PAGES, check) == []


@on_every_page
def test_every_variable_in_a_shell_block_is_a_setting(page: Path) -> None:
    for _, content in blocks(page, "sh"):
        environment = dict(re.findall(r"^export (\w+)=(\S+)$", content, re.MULTILINE))
        found = load(environment=environment | {"COGNEE_MEMORY_CONFIG_DIR": str(page.parent)})
        assert sum(source == "environment" for source in found.sources.values()) == len(environment) + 1


def packages() -> list[Path]:
    return [path.parent for top in ("jobs", "bridge", "worker") for path in (ROOT / top).rglob("__init__.py")]


def test_every_package_has_its_line() -> None:
    """A row of docs/architecture.md, or for the three at the top, a paragraph that begins with its name."""
    page = text(ROOT / "docs" / "architecture.md")
    listed = re.findall(r"^\| `([\w/]+)` \|", page, re.MULTILINE) + re.findall(r"^\*\*`(\w+)/`\*\*", page, re.MULTILINE)
    assert sorted(listed) == sorted(path.relative_to(ROOT).as_posix() for path in packages())


def test_every_module_has_its_line_in_its_packages_docstring() -> None:
    """``module``: what it is."""
    assert wrong_in(packages(), check_lines) == []


def check_lines(package: Path) -> None:
    said = ast.get_docstring(ast.parse(text(package / "__init__.py"))) or ""
    listed = [
        name for line in re.findall(r"^(``.*?``):", said, re.MULTILINE) for name in re.findall(r"``(\w+)``", line)
    ]
    there = {path.stem for path in package.glob("*.py") if path.stem != "__init__"}
    there |= {path.parent.name for path in package.glob("*/__init__.py")}
    assert sorted(listed) == sorted(there)


def test_the_packages_that_are_explained_are_those_of_the_project() -> None:
    project = text(ROOT / "pyproject.toml")
    direct = ast.literal_eval(re.search(r"^dependencies = (\[.*?^\])", project, re.MULTILINE | re.DOTALL)[1])  # type: ignore[index]
    extras = re.search(r"^graph = (\[.*?^\]).*?^team = (\[.*?^\])", project, re.MULTILINE | re.DOTALL)
    graph, team = map(ast.literal_eval, extras.groups())  # type: ignore[union-attr]
    names = [re.match(r"[\w-]+", requirement)[0] for requirement in (*graph, *direct, *team)]  # type: ignore[index]
    rows = r"^\| `([\w-]+)`(?: \(extra `\w+`\))? \|"
    assert re.findall(rows, text(ROOT / "docs" / "dependencies.md"), re.MULTILINE) == names


@pytest.mark.cognee
def test_the_example_of_the_bridge_prints_what_is_shown(model_cache: Path, tmp_path: Path) -> None:
    page = ROOT / "bridge" / "README.md"
    [(_, example)] = blocks(page, "python")
    (_, shown) = blocks(page, "text")[0]
    (tmp_path / "workspace").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", example, str(tmp_path / "workspace")],
        cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    printed = [line for line in done.stdout.splitlines() if not line.endswith("skipping creation")]
    assert printed == shown.splitlines()
