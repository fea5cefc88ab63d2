"""How well secrets are told from what only looks like one, on the labelled texts of ``tests/data/secrets.jsonl``, and
what looking for them costs a job."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from bridge.privacy.redaction import count_secrets, redact, redact_value

from . import corpus
from .table import show

DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "secrets.jsonl"
_LOADED = (
    "import time, worker.app; t = time.perf_counter(); import bridge.privacy.secret_kinds;"
    " print(time.perf_counter() - t)"
)


def main() -> None:
    _quality()
    _cost()


def _quality() -> None:
    cases, found, exact, wrong = Counter[str](), Counter[str](), Counter[str](), 0
    for line in DATA.read_text("utf-8").splitlines():
        case = json.loads(line)
        text, secret, kind = "".join(case["text"]), "".join(case.get("secret", ())), case["kind"]
        if kind is None:
            wrong += bool(count_secrets(text))
            cases["harmless"] += 1
            continue
        clean = redact(text).text
        cases[kind] += 1
        found[kind] += secret not in clean
        exact[kind] += clean == text.replace(secret, f"[REDACTED:{kind}]")
    secrets = cases.total() - cases["harmless"]
    print(f"\n{secrets} texts with a secret, {cases['harmless']} that only look like one")
    print(f"precision {found.total() / (found.total() + wrong):.3f}, recall {found.total() / secrets:.3f}")
    print(f"the secret alone replaced, and named right: {exact.total() / secrets:.3f}")
    for kind in cases:
        if kind != "harmless" and exact[kind] < cases[kind]:
            print(f"  {kind}: {found[kind]} of {cases[kind]} found, {exact[kind]} of them as they should be")


def _cost() -> None:
    rows = []
    jobs = [{"summary": summary} for summary in corpus.summaries(200)]
    size = statistics.fmean(len(json.dumps(job)) for job in jobs)
    each = _seconds(lambda: [redact_value(job) for job in jobs]) / len(jobs)
    rows.append([f"a summary of {size:,.0f} bytes", f"{each * 1000:.2f} ms"])
    prose = json.dumps(jobs)
    mib = (prose * (1 + (1 << 20) // len(prose)))[: 1 << 20]
    rows.append(["1 MiB of summaries", f"{_seconds(lambda: redact(mib)) * 1000:.0f} ms"])
    hostile = "secret=a1B2c3D4e5 " * ((1 << 20) // 18)
    rows.append(["1 MiB of nothing but secrets", f"{_seconds(lambda: redact(hostile)) * 1000:.0f} ms"])
    loaded = [float(subprocess.check_output([sys.executable, "-c", _LOADED])) for _ in range(5)]
    rows.append(["loading the rules, once a process", f"{statistics.median(loaded) * 1000:.0f} ms"])
    show("Looking for secrets", ["what", "median"], rows)


def _seconds(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)
