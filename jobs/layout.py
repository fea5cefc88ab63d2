"""Where everything lies in a workspace. The only module that knows the names of folders and files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .errors import JobError


@dataclass(frozen=True)
class Workspace:
    """The folder that is open in the editor, and what we keep in it."""

    root: Path

    @property
    def is_there(self) -> bool:
        """Whether its folder is there; what nobody may look at, or what no path can be, is not."""
        return os.path.isdir(self.root)  # noqa: PTH112 - pathlib's raises

    @property
    def spool(self) -> SpoolPaths:
        return SpoolPaths(self.root / ".cognee_jobs")

    @property
    def memory(self) -> Path:
        return self.root / ".cognee_memory"

    @property
    def memory_db(self) -> Path:
        return self.memory / "memory.db"

    @property
    def vectors(self) -> Path:
        return self.memory / "vectors"

    @property
    def store_lock(self) -> Path:
        return self.memory / "lock"

    @property
    def cognee_system(self) -> Path:
        return self.root / ".cognee_system"

    @property
    def cognee_data(self) -> Path:
        return self.root / ".cognee_data"

    @property
    def quarantine(self) -> Path:
        """Where damaged cognee stores are moved before they are rebuilt."""
        return self.memory / "set-aside"

    @property
    def earlier_stores(self) -> Path:
        """What cognee held here before it was ours: kept to be read by a migration."""
        return self.memory / "earlier"

    @property
    def previews(self) -> Path:
        """Where previews of compactions are kept, each under its digest."""
        return self.memory / "previews"

    def preview(self, digest: str) -> Path:
        return self.previews / f"{digest}.json"

    @property
    def receipts(self) -> Path:
        """Where migrations say what became of each item, each under its id."""
        return self.memory / "receipts"

    def receipt(self, receipt_id: str) -> Path:
        return self.receipts / f"{receipt_id}.json"

    @property
    def imports(self) -> Path:
        """Where files from elsewhere are copied to, to be imported from."""
        return self.memory / "imports"

    def imported(self, job_id: str) -> Path:
        """The copy that a job imports."""
        return self.imports / f"{job_id}.jsonl"

    @property
    def kept(self) -> tuple[Path, ...]:
        """The folders that are ours alone."""
        return (self.spool.root, self.memory, self.cognee_system, self.cognee_data)

    @property
    def picture(self) -> Path:
        """The picture of the knowledge graph."""
        return self.memory / "graph.html"

    @property
    def env_file(self) -> Path:
        return self.root / ".env"

    def marker(self, folder: Path) -> Path:
        return folder / ".owner"

    def is_named(self, project: str) -> bool:
        """Whether somebody who says so means this workspace: its folder's name, or its path in any spelling."""
        if project == self.root.name:
            return True
        try:
            path = Path(project).expanduser()
            # A relative path would mean another folder in each process that may answer.
            return path.is_absolute() and (path.resolve() == self.root.resolve() or path.samefile(self.root))
        except (OSError, RuntimeError, ValueError):
            return False  # no path of this machine


@dataclass(frozen=True)
class SpoolPaths:
    """The folder of jobs; the inbox is the folder itself."""

    root: Path

    @property
    def inbox(self) -> Path:
        return self.root

    @property
    def active(self) -> Path:
        return self.root / "active"

    @property
    def ended(self) -> Path:
        return self.root / "ended"

    @property
    def rejected(self) -> Path:
        return self.root / "rejected"

    @property
    def results(self) -> Path:
        return self.root / "results"

    @property
    def control(self) -> Path:
        return self.root / "control"

    @property
    def worker(self) -> Path:
        return self.root / "worker"

    @property
    def heartbeat(self) -> Path:
        return self.worker / "heartbeat.json"

    @property
    def lock(self) -> Path:
        return self.worker / "lock"

    @property
    def token(self) -> Path:
        """What who asks the worker over HTTP has to show; another one at each start."""
        return self.worker / "token"

    @property
    def figures(self) -> Path:
        """What the worker has counted since its start, for whoever monitors it."""
        return self.worker / "figures.json"

    @property
    def opening(self) -> Path:
        """The file that leads a browser to the page."""
        return self.worker / "open.html"

    @property
    def successor_lock(self) -> Path:
        """Held by the one worker that waits for a leaving one."""
        return self.worker / "successor.lock"

    @property
    def paused(self) -> Path:
        """There while the worker is paused: a pause outlives a restart."""
        return self.worker / "paused"

    @property
    def queue_db(self) -> Path:
        return self.worker / "queue.db"

    @property
    def log(self) -> Path:
        return self.worker / "worker.log"

    @property
    def folders(self) -> tuple[Path, ...]:
        return (self.root, self.active, self.ended, self.rejected, self.results, self.control, self.worker)

    def dropped(self, job_id: str) -> Path:
        return self.inbox / f"{job_id}.json"

    def dropping(self, job_id: str) -> Path:
        """Where a drop is written before its rename: names with a leading dot are ignored."""
        return self.inbox / f".{job_id}.tmp"

    def copy(self, job_id: str) -> Path:
        return self.active / f"{job_id}.json"

    def ended_copy(self, job_id: str) -> Path:
        return self.ended / f"{job_id}.json"

    def record(self, job_id: str) -> Path:
        return self.results / f"{job_id}.json"

    def cancel(self, job_id: str) -> Path:
        return self.control / f"cancel-{job_id}.json"

    def retry(self, job_id: str) -> Path:
        return self.control / f"retry-{job_id}.json"

    def dismiss(self, job_id: str) -> Path:
        return self.control / f"dismiss-{job_id}.json"

    def request(self, verb: str) -> Path:
        """A request that is about no single job: pause, resume, drain, prune."""
        return self.control / f"{verb}.json"


def expanded(path: str | Path) -> Path:
    """With a home in place of its ``~``; one that names nobody stays as it is, as in a shell."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - pathlib's raises


def find_workspace(path: str | Path | None, start: Path) -> Workspace:
    """The workspace at ``path``, or the nearest parent of ``start`` with a spool or a ``.git``, else ``start``.

    Raises WORKSPACE_MISSING when ``path`` is given and is no folder.
    """
    if path is not None:
        workspace = Workspace(expanded(path))
        if not workspace.is_there:
            raise JobError("WORKSPACE_MISSING", f"There is no folder at {workspace.root}.")
        return Workspace(workspace.root.resolve())
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / ".cognee_jobs").is_dir() or (folder / ".git").exists():
            return Workspace(folder)
    return Workspace(start)
