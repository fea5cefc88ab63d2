"""How many labelled secrets are found, and how much other text is damaged: ``python -m benchmarks.secrets SET ...``.

A set is a file of JSON lines, also compressed: ``{"text", "label", "kind", "secret", "own_form", "source"}``; label 0
means that nothing may be replaced. Each secret is tried by itself in a sentence, behind a name, and in its own text.
``--before FOLDER`` measures an unpacked earlier version beside this one, its cost in turn with this one's. ``--prose``
names files, folders and git repositories of ordinary texts. ``--unknown`` leaves out a quarter of the providers, drawn
anew eight times: what is found then tells how the rules do on tokens whose form they lack.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from . import corpus
from .table import show

ROOT = Path(__file__).resolve().parents[1]
FORMS = ("bare", "env", "source")
# Only the redaction is of that version; this program is not.
_CHILD = """
import runpy, sys
sys.path.insert(0, sys.argv.pop(1))
import bridge.privacy.redaction
del sys.path[0]
runpy.run_module("benchmarks.secrets", run_name="__main__")
"""
_TEXTS = {".md", ".txt", ".rst", ".json", ".jsonl", ".py", ".ts", ".js", ".toml", ".yaml", ".yml"}


def main() -> None:
    options = _options()
    if options.child:
        print(json.dumps(_measured_cost() if options.cost else _measured(options)))
        return
    versions = {"now": _of_version(ROOT)}
    if options.before:
        versions = {"before": _of_version(options.before), **versions}
    table = (options.before or ROOT) / "docs" / "secrets.md"
    for index, path in enumerate(options.sets):
        results = {name: result["sets"][index] for name, result in versions.items()}
        _show_found(f"{path.name}: found of how many", results, _documented(table))
        _show_false(results)
        if options.misses:
            for row in results["now"]["secrets"]:
                if not all(row[form] for form in FORMS if row[form] is not None):
                    missed = " ".join(form for form in FORMS if row[form] is False)
                    form = "own" if row["own_form"] else "-"
                    print(f"{form:3} {missed:16} {row['kind']:34} {row['secret'][:90]!r}")
            for text in results["now"]["flagged"]:
                print(f"harmless: {text[:300]!r}")
    if options.unknown:
        _show_unknown({name: result["unknown"] for name, result in versions.items()})
    if options.prose:
        _show_prose({name: result["prose"] for name, result in versions.items()})
    _show_cost({"before": options.before, "now": ROOT} if options.before else {"now": ROOT})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.secrets", description=__doc__)
    parser.add_argument("sets", nargs="*", type=Path)
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="an unpacked earlier version")
    parser.add_argument("--prose", nargs="+", type=Path, default=[], metavar="PATH")
    parser.add_argument("--unknown", action="store_true", help="leave out a quarter of the providers")
    parser.add_argument("--misses", action="store_true", help="print what was missed, and what was damaged")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--cost", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _of_version(folder: Path, *more: str) -> dict[str, Any]:
    """What this program measures in a process that imports the version in a folder."""
    own = [sys.executable, "-c", _CHILD, str(folder.resolve()), "--child", *sys.argv[1:], *more]
    measured: dict[str, Any] = json.loads(
        subprocess.check_output(own, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)})
    )
    return measured


def _measured(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "sets": [_measured_set(path) for path in options.sets],
        "prose": {str(path): _measured_prose(path) for path in options.prose},
        "unknown": [_measured_unknown(options.sets, seed) for seed in range(8)] if options.unknown else [],
    }


def _redact(text: str) -> Any:
    return importlib.import_module("bridge.privacy.redaction").redact(text)


# --- labelled sets ---


def _rows(path: Path) -> list[dict[str, Any]]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in data.decode().splitlines()]


def _bare(secret: str) -> str:
    return f"The staging box uses {secret} since March."


def _env(secret: str) -> str:
    return f"We set STAGING_API_KEY={secret} in .env"


def _measured_unknown(sets: list[Path], seed: int) -> dict[str, float]:
    """The shares of the secrets with a form of their own that are found without a quarter of the providers."""
    forms = importlib.import_module("bridge.privacy.token_forms")
    tables = {name: getattr(forms, name) for name in ("FORMS", "EXACT_FORMS")}
    # Each by its name, so that two versions leave out the same ones.
    unknown = {one for one in forms.providers() if random.Random(f"{seed} {one}").random() < 0.25}
    for name, table in tables.items():
        known = {kind: {one: row for one, row in rows.items() if one not in unknown} for kind, rows in table.items()}
        setattr(forms, name, known)
    importlib.reload(importlib.import_module("bridge.privacy.secret_kinds"))
    secrets = sorted({row["secret"] for path in sets for row in _rows(path) if row["label"] and row["own_form"]})
    found = {
        form: sum(_is_gone(secret, write(secret)) for secret in secrets) / len(secrets)
        for form, write in (("bare", _bare), ("env", _env))
    }
    for name, table in tables.items():
        setattr(forms, name, table)
    return found


def _measured_set(path: Path) -> dict[str, Any]:
    rows = _rows(path)
    secrets: dict[str, dict[str, Any]] = {}
    own_texts = Counter[str]()
    harmless, flagged = 0, []
    for row in rows:
        text, secret = row["text"], row["secret"]
        if not row["label"]:
            harmless += 1
            if _redact(text).counts:
                flagged.append(text)
            continue
        gone = _is_gone(secret, text)
        own_texts[f"{_group(row)} {gone}"] += 1
        if secret not in secrets:
            secrets[secret] = {
                "secret": secret,
                "kind": row["kind"],
                "origin": row["source"].partition(":")[0],
                "own_form": bool(row["own_form"]),
                "bare": _is_gone(secret, _bare(secret)),
                "env": _is_gone(secret, _env(secret)),
                "source": gone,
            }
        secrets[secret]["source"] &= gone
    return {"secrets": list(secrets.values()), "own_texts": own_texts, "harmless": harmless, "flagged": flagged}


def _group(row: dict[str, Any]) -> str:
    return "own" if row["own_form"] else "none"


def _is_gone(secret: str, text: str) -> bool:
    """Whether no piece of the secret stays that has 8 characters and a third of it."""
    clean = _redact(text).text
    size = min(len(secret), max(8, math.ceil(len(secret) / 3)))
    return not any(secret[at : at + size] in clean for at in range(len(secret) - size + 1))


def _documented(page: Path) -> set[str]:
    """The words of the table in docs/secrets.md."""
    lines = [line for line in page.read_text("utf-8").splitlines() if line.startswith("|")]
    return {word.lower() for line in lines for word in re.findall("[A-Za-z]{3,}", line)}


def _show_found(title: str, results: dict[str, Any], known: set[str]) -> None:
    def groups(row: dict[str, Any]) -> Iterator[str]:
        if row["own_form"]:
            named = any(word in known for word in re.findall("[a-z]{3,}", row["kind"].lower().replace("_", " "))[:2])
            yield "form of its own, " + ("provider in the table" if named else "provider not in the table")
            yield "form of its own, all"
            yield f"form of its own, from {row['origin']}"
        else:
            yield "no form of its own"

    counts: dict[str, Counter[str]] = {}
    for version, result in results.items():
        for row in result["secrets"]:
            for group in groups(row):
                counter = counts.setdefault(group, Counter())
                counter[f"{version} all"] += 1
                counter.update(f"{version} {form}" for form in FORMS if row[form])
    heads = [f"{form} {version}" for form in FORMS for version in results]
    rows = []
    for group, counter in sorted(counts.items()):
        cells = [
            f"{counter[f'{version} {form}']} ({counter[f'{version} {form}'] / counter[f'{version} all']:.1%})"
            for form in FORMS
            for version in results
        ]
        rows.append([group, str(counter[f"{next(iter(results))} all"]), *cells])
    show(title, ["different secrets", "number", *heads], rows)


def _show_false(results: dict[str, Any]) -> None:
    rows = [[name, str(result["harmless"]), str(len(result["flagged"]))] for name, result in results.items()]
    show("Texts labelled harmless", ["version", "texts", "with a replacement"], rows)


# --- ordinary texts ---


def _measured_prose(path: Path) -> dict[str, Any]:
    found, size = [], 0
    for text in _prose(path):
        size += len(text)
        redacted = _redact(text)
        if redacted.counts:
            found.append(_difference(text, redacted.text))
    return {"characters": size, "found": found}


def _prose(path: Path) -> Iterator[str]:
    if (path / ".git").exists() or (path / "objects").is_dir():
        log = subprocess.run(["git", "-C", path, "log", "--format=%B%x00"], capture_output=True, check=True).stdout
        yield from log.decode("utf-8", "replace").split("\0")
        return
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.suffix in _TEXTS and file.is_file():
            yield from re.split(r"\n\s*\n", file.read_text("utf-8", "replace"))


def _difference(text: str, clean: str) -> str:
    """A text around its first replacement."""
    start = next((at for at, (old, new) in enumerate(zip(text, clean, strict=False)) if old != new), len(clean))
    return text[max(0, start - 60) : start + 80]


def _show_unknown(results: dict[str, list[dict[str, float]]]) -> None:
    rows = [
        [version, *(f"{statistics.fmean(each[form] for each in found):.1%}" for form in ("bare", "env"))]
        for version, found in results.items()
    ]
    show("Without a quarter of the providers, mean of 8 draws", ["version", "bare", "env"], rows)


# --- cost ---

_ROUNDS = 7


def _measured_cost() -> dict[str, float]:
    """Milliseconds, each the fastest of five."""
    began = time.perf_counter()
    _redact("the first text loads the rules")
    loading = time.perf_counter() - began
    redact_value = importlib.import_module("bridge.privacy.redaction").redact_value
    jobs = [{"summary": summary} for summary in corpus.summaries(200)]
    prose = json.dumps(jobs)
    mib = (prose * (1 + (1 << 20) // len(prose)))[: 1 << 20]
    works: dict[str, Callable[[], object]] = {
        "a summary": lambda: [redact_value(job) for job in jobs],
        "1 MiB of summaries": lambda: _redact(mib),
        "1 MiB of nothing but secrets": lambda: _redact("secret=a1B2c3D4e5 " * ((1 << 20) // 18)),
    }
    taken: dict[str, float] = {}
    for name, work in works.items():
        for _ in range(5):
            began = time.perf_counter()
            work()
            seconds = time.perf_counter() - began
            taken[name] = min(taken.get(name, seconds), seconds)
    taken["a summary"] /= len(jobs)
    return {name: seconds * 1000 for name, seconds in {**taken, "loading the rules": loading}.items()}


def _show_cost(folders: dict[str, Path]) -> None:
    rounds = [{name: _of_version(folder, "--cost") for name, folder in folders.items()} for _ in range(_ROUNDS)]
    rows = [
        [what, *(f"{statistics.median(each[name][what] for each in rounds):.2f} ms" for name in folders)]
        for what in rounds[0]["now"]
    ]
    show(f"Cost, median of {_ROUNDS} processes in turn", ["what", *folders], rows)


def _show_prose(results: dict[str, Any]) -> None:
    rows = [
        [path, f"{found['characters']:,}", version, str(len(found["found"]))]
        for version, measured in results.items()
        for path, found in measured.items()
    ]
    show("Ordinary texts", ["path", "characters", "version", "texts with a replacement"], rows)
    for path, found in results["now"].items():
        for text in found["found"]:
            print(f"{path}: {text!r}")


if __name__ == "__main__":
    main()
