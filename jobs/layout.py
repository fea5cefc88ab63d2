"""The paths of all folders and files in a workspace. No other module knows their names."""

from __future__ import annotations

import os
from functools import cached_property  # for what every question asks for: to join a path takes microseconds
from pathlib import Path
from typing import NamedTuple

from .errors import JobError


class _Entry(cached_property[Path]):
    """A file or folder below the ``root``: its path, made when it is first asked for."""

    def __init__(self, name: str) -> None:
        """``name``: the path relative to the root."""
        super().__init__(lambda paths: Path(paths.root / name))
        self._name = name

    def __truediv__(self, name: str) -> _Entry:
        return _Entry(f"{self._name}/{name}")


class _Folder(NamedTuple):
    root: Path


class Workspace(_Folder):
    """A project folder (the one open in the editor), and the paths of what cognee-memory stores in it."""

    @property
    def exists(self) -> bool:
        """Whether the folder exists and can be read; False for an impossible path too."""
        return os.path.isdir(self.root)  # noqa: PTH112 - Path.is_dir raises for some paths

    @cached_property
    def spool(self) -> SpoolPaths:
        """The job folder."""
        return SpoolPaths(self.root / ".cognee_jobs")

    memory = _Entry(".cognee_memory")  # the folder of the memory store
    memory_db = memory / "memory.db"  # the SQLite database that holds the memories: the source of truth
    team_copy = memory / "team-copy.json"  # when the worker last knew that memory.db has all changes of its team
    team_problem = memory / "team-problem.json"  # why the worker did not reach the team at its last try
    vectors = memory / "vectors"  # the folder of the vector files
    store_lock = memory / "lock"  # the lock that the memory store's one writing process holds
    cognee_system = _Entry(".cognee_system")  # Cognee's databases: the graph, its vectors and its own SQLite
    cognee_data = _Entry(".cognee_data")  # the copies that cognee keeps of its input
    quarantine = memory / "set-aside"  # where damaged cognee stores are moved before they are rebuilt
    # Cognee stores that existed before cognee-memory was installed here; a migration reads them.
    earlier_stores = memory / "earlier"
    previews = memory / "previews"  # the folder of compaction previews, one file per digest

    def preview(self, digest: str) -> Path:
        """The compaction preview with that SHA-256 digest."""
        return self.previews / f"{digest}.json"

    receipts = memory / "receipts"  # the folder of migration receipts, one file per migration

    def receipt(self, receipt_id: str) -> Path:
        """The receipt of that migration: what became of each item."""
        return self.receipts / f"{receipt_id}.json"

    imports = memory / "imports"  # the folder of files copied from outside the workspace for an import

    def imported(self, job_id: str) -> Path:
        """The copied file that an import job reads."""
        return self.imports / f"{job_id}.jsonl"

    @cached_property
    def own_folders(self) -> tuple[Path, ...]:
        """The folders that belong to cognee-memory alone."""
        return (self.spool.root, self.memory, self.cognee_system, self.cognee_data)

    picture = memory / "graph.html"  # the rendered page that shows the knowledge graph
    env_file = _Entry(".env")  # the workspace's own file of settings

    def owner_marker(self, folder: Path) -> Path:
        """The file in ``folder`` with the owner's mark, by which ``bridge/trust`` recognises folders made here."""
        return folder / ".owner"

    def matches(self, project: str) -> bool:
        """Whether ``project`` refers to this workspace: the folder's name, or its absolute path in any spelling."""
        if project == self.root.name:
            return True
        try:
            path = Path(project).expanduser()
            # A relative path would be a different folder in each process that may answer.
            return path.is_absolute() and (path.resolve() == self.root.resolve() or path.samefile(self.root))
        except (OSError, RuntimeError, ValueError):
            return False  # not a path that this machine can resolve


class SpoolPaths(_Folder):
    """The paths inside the job folder (the spool). The inbox is the folder itself."""

    inbox = _Entry("")  # where clients drop job files: the folder itself
    active = _Entry("active")  # the worker's copies of jobs that have not ended
    ended = _Entry("ended")  # the copies of ended jobs, kept for a replay
    rejected = _Entry("rejected")  # files that could not become jobs, each with its reason
    results = _Entry("results")  # the records: one file per job, with its state and result
    control = _Entry("control")  # requests to the worker: cancel, retry, pause and so on
    worker = _Entry("worker")  # the worker's own files
    heartbeat = worker / "heartbeat.json"  # the worker's state, rewritten regularly
    lock = worker / "lock"  # the lock that the running worker holds
    token = worker / "token"  # the token that HTTP clients must send; the worker writes a new one at each start
    counters = worker / "figures.json"  # the worker's counters since its start, for monitoring
    # The worker's note of the jobs whose operation runs now, for recovery after its death.
    executing = worker / "executing.json"
    open_page = worker / "open.html"  # the local file that redirects a browser to the worker's page
    drop_lock = worker / "drop.lock"  # the lock of the client that drops a job under an id of its own choice
    successor_lock = worker / "successor.lock"  # the lock of the one worker that waits for the present worker to end
    paused = worker / "paused"  # this file exists while the worker is paused, so a pause survives a restart
    # The list of the files that waited before the folder was this user's; the worker rejects them.
    earlier_files = worker / "earlier-files.json"
    queue_db = worker / "queue.db"  # Huey's SQLite database. It is derived from the records and rebuilt at each start
    log = worker / "worker.log"  # the worker's log

    @property
    def folders(self) -> tuple[Path, ...]:
        """All folders of the spool, the root first."""
        return (self.root, self.active, self.ended, self.rejected, self.results, self.control, self.worker)

    def dropped(self, job_id: str) -> Path:
        """A job file in the inbox."""
        return self.inbox / f"{job_id}.json"

    def copy(self, job_id: str) -> Path:
        """The worker's copy of a job that has not ended."""
        return self.active / f"{job_id}.json"

    def ended_copy(self, job_id: str) -> Path:
        """The copy of an ended job."""
        return self.ended / f"{job_id}.json"

    def record(self, job_id: str) -> Path:
        """The job's record."""
        return self.results / f"{job_id}.json"

    def cancel(self, job_id: str) -> Path:
        """A request to cancel the job."""
        return self.control / f"cancel-{job_id}.json"

    def retry(self, job_id: str) -> Path:
        """A request to run the ended job again."""
        return self.control / f"retry-{job_id}.json"

    def dismiss(self, job_id: str) -> Path:
        """A request to remove an ended job and its files now."""
        return self.control / f"dismiss-{job_id}.json"

    def request(self, verb: str) -> Path:
        """A request that concerns no single job: pause, resume, drain, prune."""
        return self.control / f"{verb}.json"


def expand_home(path: str | Path) -> Path:
    """The path with ``~`` replaced by a home folder; the ``~name`` of an unknown user stays, as in a shell."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises for an unknown user


def find_workspace(path: str | Path | None, start: Path, *, anywhere: bool = False) -> Workspace:
    """The workspace at ``path``, or the nearest parent of ``start`` with a spool or a ``.git``, else ``start``.

    A memory in the home folder or above it would belong to no project, and be that of every folder below. So such a
    folder is found only if it has a spool already, or ``anywhere``, for what looks and creates nothing. Raises
    JobError: WORKSPACE_MISSING when ``path`` is given and is not a folder, WORKSPACE_NOT_CHOSEN.
    """
    if path is not None:
        workspace = Workspace(expand_home(path))
        if not workspace.exists:
            raise JobError("WORKSPACE_MISSING", f"There is no folder at {workspace.root}.")
        return Workspace(workspace.root.resolve())
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / ".cognee_jobs").is_dir():
            return Workspace(folder)
        if (folder / ".git").exists():
            start = folder
            break
    if not anywhere and (start == start.parent or expand_home("~").resolve().is_relative_to(start)):
        raise JobError("WORKSPACE_NOT_CHOSEN", f"No workspace was named, and {start} is no project's folder.")
    return Workspace(start)
