"""What kind of mount a path lies on: whether file events tell all that happens there, and whether SQLite's
write-ahead log is safe.

Both need that all who use the files do so through one kernel. A change that another machine makes is no event on
this one; and the log's index is memory that processes share, which two machines cannot.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jobs.errors import JobError
from jobs.layout import Workspace

# Other machines, or the host of a virtual machine, have the same files.
_SHARED = frozenset(
    """
    nfs nfs4 cifs smb smb2 smb3 smbfs smbnetfs afs afpfs afp ncpfs coda davfs davfs2 webdav ftp 9p drvfs
    ceph glusterfs lustre gpfs beegfs orangefs pvfs2 gfs2 ocfs2 acfs quobyte moosefs
    virtiofs vboxsf prl_fs prlfs vmhgfs hgfs fakeowner osxfs grpcfuse
    """.split()
)

# Of the file systems whose program runs in user space, those known to keep their files on this machine and to have
# them all pass through this kernel. What the others do, nobody can say: they poll, and memory.db is refused.
_LOCAL_FUSE = frozenset(
    """
    fuseblk fuse.ntfs-3g fuse.ntfs fuse.exfat fuse.exfat-fuse fuse.fuse-overlayfs fuse.gocryptfs fuse.encfs
    """.split()
)
_FUSE = ("fuse", "macfuse", "osxfuse")

_REMOTE_DRIVE = 4  # Windows: DRIVE_REMOTE
_UNC = re.compile(r"[\\/]{2}(?![.?][\\/])|[\\/]{2}[.?][\\/]UNC[\\/]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mount:
    """A mount, and what may be expected of files on it."""

    point: str
    fstype: str
    events: bool  # file events tell of every change
    wal: bool  # SQLite's write-ahead log is safe
    wsl: bool = False  # we run in Windows' Linux, where a disk of Windows is a shared one


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table of mounts."""

    point: str
    fstype: str
    number: int | None = None  # Linux' own number of the mount


def describe(path: Path) -> Mount:
    """The mount on which a path lies, or would lie if it were made."""
    real = os.path.realpath(path)
    if sys.platform == "win32":
        return of_windows(real, _drive_type(real))
    there = _nearest(Path(real))  # looked at before the table is read: an automount may only come by that
    rows = parse_mountinfo(_read("/proc/self/mountinfo")) if sys.platform == "linux" else _partitions()
    found = by_number(_mount_number(there), rows) or by_path(real, rows, fold=sys.platform == "darwin")
    return classify(found.point, found.fstype, wsl=is_wsl(platform.release()))


def require_safe(workspace: Workspace, allow: bool) -> None:
    """Raises STORE_MOUNT_UNSAFE where memory.db could be damaged, unless the user accepts that."""
    mount = describe(workspace.memory)
    if not mount.wal and not allow:
        where = "a disk of Windows" if mount.wsl else f"a mount of type {mount.fstype}"
        raise JobError(
            "STORE_MOUNT_UNSAFE",
            f"{workspace.root} lies on {where} ({mount.point}), whose files another system may use at the same time;"
            " SQLite's log would not survive that. Jobs wait, and nothing was written.",
        )


def classify(point: str, fstype: str, *, wsl: bool = False) -> Mount:
    """What may be expected of a file system of that type. One that is not known is taken for a local one."""
    kind = fstype.lower()
    shared = kind in _SHARED or (kind.startswith(_FUSE) and kind not in _LOCAL_FUSE)
    return Mount(point, fstype, events=not shared, wal=not shared, wsl=wsl and kind in ("9p", "drvfs", "virtiofs"))


def of_windows(path: str, drive_type: int) -> Mount:
    """On Windows it is the drive that says it; a server's path has none."""
    if _UNC.match(path):
        return Mount(path, "smb", events=False, wal=False)
    kind = "smb" if drive_type == _REMOTE_DRIVE else "local"
    return classify(path[:3], kind)


def by_path(path: str, rows: Iterable[Row], *, fold: bool = False) -> Row:
    """The row with the longest mount point above the path; of two at one point, the later one covers the other."""
    found = Row("/", "unknown")
    parts = _split(path, fold)
    for row in rows:
        above = _split(row.point, fold)
        if parts[: len(above)] == above and len(above) >= len(_split(found.point, fold)):
            found = row
    return found


def _split(path: str, fold: bool) -> list[str]:
    return [part for part in (path.casefold() if fold else path).split("/") if part]


def by_number(number: int | None, rows: Iterable[Row]) -> Row | None:
    """The row of a mount by its number: right where another mount hides the path's, too."""
    return None if number is None else next((row for row in rows if row.number == number), None)


def parse_mountinfo(text: str) -> list[Row]:
    """The lines of Linux' table. Spaces and the like in names are written as three octal digits."""
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
    """Whether a kernel of that release is Windows' Linux."""
    return "microsoft" in release.lower()


def _nearest(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if os.path.lexists(folder))


def _read(path: str) -> str:
    try:
        return os.fsdecode(Path(path).read_bytes())
    except OSError:
        return ""


def _mount_number(path: Path) -> int | None:
    """Linux' number of the mount that a path lies on."""
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
    import psutil  # no part of the fast path needs it

    return [Row(part.mountpoint, part.fstype) for part in psutil.disk_partitions(all=True)]


def _drive_type(path: str) -> int:
    if sys.platform == "win32":
        import ctypes

        return int(ctypes.windll.kernel32.GetDriveTypeW(os.path.splitdrive(path)[0] + "\\"))
    return 0
