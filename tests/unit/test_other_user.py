"""Another user of the machine: a process of that user finds nothing to read, list or write. Only root can test that."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import PATIENCE

from bridge import trust
from jobs import client, files, spool
from jobs.errors import JobError
from jobs.layout import Workspace

pytestmark = pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="only root is also another user")

NOBODY = 65534

# Prints every path that it could list, read or write below the folder, or reach by a known name.
INTRUDER = """
import json, os, sys
root, known = sys.argv[1], sys.argv[2:]
got = []
def attempt(what, path, action):
    try:
        action()
        got.append([what, path])
    except OSError:
        pass
for folder, folders, names in os.walk(root):
    for name in folders:
        path = os.path.join(folder, name)
        attempt("list", path, lambda: os.listdir(path))
    for name in names:
        path = os.path.join(folder, name)
        attempt("read", path, lambda: open(path, "rb").close())
for path in known:
    attempt("read", path, lambda: open(path, "rb").close())
    attempt("write", path, lambda: open(path, "ab").close())
    attempt("create", path, lambda: open(path + ".new", "wb").close())
    attempt("remove", path, lambda: os.unlink(path))
    attempt("link", path, lambda: os.symlink("/etc/passwd", path + ".link"))
print(json.dumps(got))
"""


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    """A workspace in a folder that everybody may enter, made while nothing is masked."""
    before = os.umask(0)
    base = Path(tempfile.mkdtemp())
    base.chmod(0o755)
    workspace = Workspace(base / "workspace")
    workspace.root.mkdir(mode=0o755)
    try:
        trust.adopt(workspace, base / "config")
        yield workspace
    finally:
        os.umask(before)
        shutil.rmtree(base)


def test_another_user_finds_nothing_to_read_list_or_write(workspace: Workspace) -> None:
    place = workspace.spool
    client.submit(place, "noop", {}, job_id="waits")
    client.request(place, "pause")
    (place.inbox / "bad").write_bytes(b"?")
    kept = spool.reject(place, place.inbox / "bad", JobError("NAME_INVALID"), None, "2026-11-20")
    files.replace(place.token, b"token")
    files.replace(place.record("ended"), b"{}")
    workspace.memory_db.write_bytes(b"")
    known = [place.dropped("waits"), place.request("pause"), kept, place.token, place.record("ended"), place.log]
    known += [workspace.memory_db, workspace.cognee_system / "x", workspace.cognee_data / "x"]
    done = subprocess.run(
        ["/usr/bin/env", "python3", "-c", INTRUDER, str(workspace.root.parent), *map(str, known)],
        user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", capture_output=True, text=True, check=True,
        timeout=PATIENCE,
    )  # fmt: skip
    assert json.loads(done.stdout) == [["list", str(workspace.root)]]
