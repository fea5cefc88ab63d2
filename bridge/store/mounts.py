"""Mounts: whether a path's file system reports all changes as file events, and whether SQLite's write-ahead log is safe
on it.

Both require that all processes use the files through one kernel. A change that another machine makes causes no event
here, and the log's index is shared memory, which two machines do not share.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from jobs.errors import JobError
from jobs.layout import Workspace

# File systems that other machines, or the host of a virtual machine, use at the same time.
_SHARED = frozenset(
    """
    nfs nfs4 cifs smb smb2 smb3 smbfs smbnetfs afs afpfs afp ncpfs coda davfs davfs2 webdav ftp 9p drvfs
    ceph glusterfs lustre gpfs beegfs orangefs pvfs2 gfs2 ocfs2 acfs quobyte moosefs
    virtiofs vboxsf prl_fs prlfs vmhgfs hgfs fakeowner osxfs grpcfuse
    """.split()
)

# FUSE file systems that are known to keep their files on this machine, behind this kernel. The others are unknown: the
# worker polls there, and memory.db is refused.
_LOCAL_FUSE = frozenset(
    """
    fuseblk fuse.ntfs-3g fuse.ntfs fuse.exfat fuse.exfat-fuse fuse.fuse-overlayfs fuse.gocryptfs fuse.encfs
    """.split()
)
_FUSE = ("fuse", "macfuse", "osxfuse")

_REMOTE_DRIVE = 4  # Windows: DRIVE_REMOTE
_UNC = re.compile(r"[\\/]{2}(?![.?][\\/])|[\\/]{2}[.?][\\/]UNC[\\/]", re.IGNORECASE)


class Mount(NamedTuple):
    """A mount, and what it guarantees for its files."""

    point: str
    fstype: str
    events: bool  # every change causes a file event
    wal: bool  # SQLite's write-ahead log is safe
    wsl: bool = False  # a Windows disk under WSL, which Windows uses too


class Row(NamedTuple):
    """A row of a table of mounts."""

    point: str
    fstype: str
    number: int | None = None  # the mount id of Linux


def describe(path: Path) -> Mount:
    """The mount of a path. The path need not exist."""
    real = os.path.realpath(path)
    if sys.platform == "win32":
        return of_windows(real, _drive_type(real))
    existing = _nearest(Path(real))  # before the table is read, since this access may trigger an automount
    rows = parse_mountinfo(_read("/proc/self/mountinfo")) if sys.platform == "linux" else _partitions()
    row = by_number(_mount_number(existing), rows) or by_path(real, rows, fold=sys.platform == "darwin")
    return classify(row.point, row.fstype, wsl=is_wsl(platform.release()))


def require_safe(workspace: Workspace, allow: bool) -> None:
    """Raises JobError: STORE_MOUNT_UNSAFE where memory.db could be damaged, unless ``allow``. Call it before
    ``opening.open_store``, and before what that needs."""
    mount = describe(workspace.memory)
    if not mount.wal and not allow:
        where = "a disk of Windows" if mount.wsl else f"a mount of type {mount.fstype}"
        raise JobError(
            "STORE_MOUNT_UNSAFE",
            f"{workspace.root} is on {where} ({mount.point}), whose files another system may use at the same time;"
            " SQLite's log would not survive that. Jobs wait, and nothing was written.",
        )


def classify(point: str, fstype: str, *, wsl: bool = False) -> Mount:
    """The mount at ``point`` with the guarantees of its file system type. An unknown type counts as local."""
    kind = fstype.lower()
    shared = kind in _SHARED or (kind.startswith(_FUSE) and kind not in _LOCAL_FUSE)
    return Mount(point, fstype, events=not shared, wal=not shared, wsl=wsl and kind in ("9p", "drvfs", "virtiofs"))


def of_windows(path: str, drive_type: int) -> Mount:
    """The mount of a Windows path. The drive's type decides; a UNC path has no drive and counts as remote."""
    if _UNC.match(path):
        return Mount(path, "smb", events=False, wal=False)
    kind = "smb" if drive_type == _REMOTE_DRIVE else "local"
    return classify(path[:3], kind)


def by_path(path: str, rows: Iterable[Row], *, fold: bool = False) -> Row:
    """The row with the longest mount point that contains the path; of two at one point, the later one.

    ``fold`` ignores case.
    """
    best = Row("/", "unknown")
    parts = _split(path, fold)
    for row in rows:
        above = _split(row.point, fold)
        if parts[: len(above)] == above and len(above) >= len(_split(best.point, fold)):
            best = row
    return best


def _split(path: str, fold: bool) -> list[str]:
    return [part for part in (path.casefold() if fold else path).split("/") if part]


def by_number(number: int | None, rows: Iterable[Row]) -> Row | None:
    """The row of a mount id, or None. It is right even if another mount covers the path."""
    return None if number is None else next((row for row in rows if row.number == number), None)


def parse_mountinfo(text: str) -> list[Row]:
    """The rows of Linux's mountinfo. It writes spaces and similar characters in names as three octal digits."""
    rows = []
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        fields, kind = left.split(" "), right.split(" ")
        if len(fields) >= 5 and kind[0] and fields[0].isdecimal():
            rows.append(Row(_unescape(fields[4]), _unescape(kind[0]), int(fields[0])))
    return rows


def _unescape(field: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)


def is_wsl(release: str) -> bool:
    """Whether the kernel of that release is WSL's."""
    return "microsoft" in release.lower()


def _nearest(path: Path) -> Path:
    """The nearest existing folder or file of a path."""
    return next(folder for folder in (path, *path.parents) if os.path.lexists(folder))


def _read(path: str) -> str:
    try:
        return os.fsdecode(Path(path).read_bytes())
    except OSError:
        return ""


def _mount_number(path: Path) -> int | None:
    """The mount id of a path on Linux, or None."""
    if sys.platform != "linux":
        return None
    try:
        descriptor = os.open(path, os.O_PATH)
    except OSError:
        return None
    try:
        found = re.search(r"^mnt_id:\s*(\d+)$", _read(f"/proc/self/fdinfo/{descriptor}"), re.MULTILINE)
        return int(found[1]) if found else None
    finally:
        os.close(descriptor)


def _partitions() -> list[Row]:
    import psutil  # imported here: the fast path does not need it

    return [Row(part.mountpoint, part.fstype) for part in psutil.disk_partitions(all=True)]


def _drive_type(path: str) -> int:
    if sys.platform == "win32":
        import ctypes

        return int(ctypes.windll.kernel32.GetDriveTypeW(os.path.splitdrive(path)[0] + "\\"))
    return 0
