"""The page's files: the library is as published, and nothing of ours could make markup or ask another host."""

import re
from hashlib import sha256
from pathlib import Path

import pytest

from bridge.argument_table import ARGUMENTS
from bridge.search.ranking import STATUS_MULTIPLIERS

PAGE = Path(__file__).resolve().parents[2] / "worker" / "page"
SCRIPTS = sorted(PAGE.glob("*.js"))
VENDORED = {
    "preact.js": "bdcbd9abdf2c77c5c45326eab42191e949222d479d0d5f69467387a77040cb55",
    "preact-hooks.js": "e862ab2973aa6455eaa0f77c5d832d2157d6be59a17c8ba546550a575b58c6b4",
    "htm.js": "ab33dd3f38059b9be4d5f5350128eefb2356639c4e0bbe9d9e8b3ba75847e9e4",
}
OURS = [path for path in SCRIPTS if path.name not in VENDORED]


@pytest.mark.parametrize("name", VENDORED)
def test_the_library_is_as_published(name: str) -> None:
    """But for one name: a browser finds a module by its address alone."""
    data = (PAGE / name).read_bytes()
    if name == "preact-hooks.js":
        assert data.count(b'from"./preact.js"') == 1
        data = data.replace(b'from"./preact.js"', b'from"preact"')
    assert sha256(data).hexdigest() == VENDORED[name]


def test_a_module_says_what_it_owns_and_makes_no_markup_or_code_of_text() -> None:
    assert [path.name for path in OURS if not path.read_text("utf-8").startswith("// ")] == []
    ways = r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|srcdoc|javascript:|style="
    assert [path.name for path in OURS if re.search(ways, path.read_text("utf-8"))] == []


def test_no_file_names_another_host() -> None:
    for path in (*OURS, PAGE / "index.html", PAGE / "style.css"):
        text = re.sub(r"http://www\.w3\.org/2000/svg", "", path.read_text("utf-8"))
        assert re.findall(r"(?:https?:)?//[\w.-]+\.\w+", text) == [], path.name


def test_the_meters_are_full_at_the_highest_multipliers() -> None:
    scales = re.findall(r"HIGHEST_\w+ = ([0-9.]+);", (PAGE / "parts.js").read_text("utf-8"))
    assert [*map(float, scales)] == [max(STATUS_MULTIPLIERS.values()), 1 + ARGUMENTS["feedback_weight"].range[1]]
    shown = [line for path in OURS for line in path.read_text("utf-8").splitlines() if 'tone="status"' in line]
    assert {"most=${HIGHEST_STATUS}" in line for line in shown} == {True}


def test_a_module_imports_what_is_there() -> None:
    for path in SCRIPTS:
        for name in re.findall(r'from ?"(\.[^"]+)"', path.read_text("utf-8")):
            assert (PAGE / name).is_file(), f"{path.name} imports {name}"


def test_the_page_has_nothing_inline() -> None:
    index = (PAGE / "index.html").read_text("utf-8")
    assert re.findall(r"<script(?![^>]* src=)|<style|\son\w+=|style=", index) == []
    assert set(re.findall(r'"/assets/([\w-]+\.\w+)"', index)) == {"app.js", "theme.js", "style.css"}
