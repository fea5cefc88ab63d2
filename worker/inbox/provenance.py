"""Where a file in the job folder comes from: a repository must not act by being cloned or pulled.

Refused are files that waited before the folder was this user's, and files that git tracks.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path

from bridge.git_index import GitIndex
from jobs import earlier_files
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace

log = logging.getLogger(__name__)


class Provenance:
    """The rule for one workspace. Not thread-safe."""

    def __init__(self, paths: SpoolPaths) -> None:
        """Raises OSError, and ValueError for a damaged list of earlier files."""
        self._root = paths.root.parent
        self._git = GitIndex(Workspace(self._root))
        self._earlier = earlier_files.read(paths)
        self._waits = False

    def must_wait(self) -> bool:
        """Whether git is writing files just now. It names them in its index only when it has written all of them."""
        waits = self._git.is_being_written(time.time())
        if waits and not self._waits:
            log.info("git is writing files: the inbox waits")
        self._waits = waits
        return waits

    def require_own(self, path: Path) -> None:
        """Raises JobError: FILE_NOT_TRUSTED or FILE_TRACKED for a file that must not be run unasked. Raises OSError."""
        if earlier_files.is_listed(path, self._earlier):
            raise JobError("FILE_NOT_TRUSTED", f"{path.name} was here before the folder was yours.")
        if (tracked := self._git.tracked()) and path.relative_to(self._root).as_posix() in tracked:
            raise JobError("FILE_TRACKED", f"git tracks {path.name}, so it came with the repository.")
