"""The copies of workspaces in a pool's folder: made when their jobs are run, used by one worker at a time, and removed
again when there are too many. Nothing in them is the only one of its kind.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from bridge import trust
from bridge.store.opening import copy_state
from bridge.store.team.position import CopyState
from bridge.team import membership
from bridge.team.membership import Membership
from jobs import files
from jobs.errors import JobError
from jobs.layout import Workspace

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PoolCopy:
    """A copy. ``membership`` has its name among the machines of the workspace."""

    workspace: Workspace
    membership: Membership


class Copies:
    """Thread-safe."""

    def __init__(
        self, folder: Path, config_folder: Path, most: int, *, machine: str | None = None, is_pool: bool = False
    ) -> None:
        """``most``: how many copies are kept. ``machine`` and ``is_pool`` are for their names. Raises OSError."""
        self._machine, self._is_pool = machine, is_pool
        self.folder = folder  # it has one for each workspace, named by its id
        self._config_folder = config_folder
        self._most = most
        self._free = threading.Condition()
        self._in_use: set[str] = set()
        self._positions: dict[str, CopyState] = {}
        files.make_folder(folder)
        for workspace_id in self._found():
            self._look(workspace_id)

    def positions(self) -> dict[str, CopyState]:
        """Where each copy is, by workspace. One that was used last comes last."""
        with self._free:
            return dict(self._positions)

    def is_in_use(self, workspace_id: str) -> bool:
        """Whether a worker uses the copy now."""
        with self._free:
            return workspace_id in self._in_use

    @contextmanager
    def use(self, workspace_id: str) -> Iterator[PoolCopy]:
        """Use the copy of a workspace, which is made if there is none. Waits while another worker uses it.

        Raises OSError, and JobError: CONFIG_UNWRITABLE.
        """
        with self._alone(workspace_id):
            workspace = Workspace(self.folder / workspace_id)
            files.make_folder(workspace.root)
            found = membership.membership_of(workspace, self._config_folder)
            if found is None:
                found = membership.join(
                    workspace, self._config_folder, workspace_id, machine=self._machine, is_pool=self._is_pool
                )
            try:
                yield PoolCopy(workspace, found)
            finally:
                self._look(workspace_id)

    def remove_oldest(self, tell: Callable[[Membership], object]) -> None:
        """Remove the copies that were not used for longest, until there are not too many. ``tell`` is called for each.

        Raises OSError, and JobError as ``tell``.
        """
        while len(known := self.positions()) > self._most:
            if not self.remove(next(iter(known)), tell):
                return

    def remove(self, workspace_id: str, tell: Callable[[Membership], object]) -> bool:
        """Remove a copy. Returns False if a worker uses it now."""
        with self._free:
            if workspace_id in self._in_use:
                return False
            self._in_use.add(workspace_id)
        try:
            workspace = Workspace(self.folder / workspace_id)
            found = membership.membership_of(workspace, self._config_folder)
            if found is not None:
                tell(found)
                membership.leave(workspace, self._config_folder)
            owner = trust.inspect_trust(workspace, self._config_folder).owner
            shutil.rmtree(workspace.root)
            if owner is not None:
                trust.unlist(workspace, self._config_folder, owner)
            log.info("removed the copy of %s, which was not used for longest", workspace_id)
        finally:
            with self._free:
                self._in_use.discard(workspace_id)
                if not (self.folder / workspace_id).exists():
                    self._positions.pop(workspace_id, None)
                self._free.notify_all()
        return True

    @contextmanager
    def _alone(self, workspace_id: str) -> Iterator[None]:
        with self._free:
            self._free.wait_for(lambda: workspace_id not in self._in_use)
            self._in_use.add(workspace_id)
        try:
            yield
        finally:
            with self._free:
                self._in_use.discard(workspace_id)
                self._free.notify_all()

    def _found(self) -> list[str]:
        """The ids of the workspaces that have a copy, the one that was used longest ago first."""
        found = [path for path in self.folder.iterdir() if path.is_dir() and _is_id(path.name)]
        return [path.name for path in sorted(found, key=_used_at)]

    def _look(self, workspace_id: str) -> None:
        try:
            seen = copy_state(Workspace(self.folder / workspace_id))
        except JobError as error:
            log.warning("the copy of %s cannot be read: %s", workspace_id, error.code)
            seen = CopyState(None, 0)
        with self._free:
            self._positions.pop(workspace_id, None)
            self._positions[workspace_id] = seen


def _used_at(path: Path) -> float:
    try:
        return Workspace(path).memory_db.stat().st_mtime
    except OSError:
        return 0.0


def _is_id(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False
