"""On what kind of mount a path lies, and what may be expected there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness import PATIENCE, PROJECT

from bridge.store import mounts
from bridge.store.mounts import Mount, Row
from jobs.errors import JobError
from jobs.layout import Workspace

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux' table of mounts")

TABLE = [
    Row("/", "ext4"),
    Row("/home", "xfs"),
    Row("/home/u/net", "nfs4"),
    Row("/home/u/net/scratch", "tmpfs"),
    Row("/mnt/c", "9p"),
]


MOUNTED = [
    ("/etc", "ext4"),
    ("/", "ext4"),
    ("/home", "xfs"),
    ("/home/u/project", "xfs"),
    ("/home/u/net", "nfs4"),
    ("/home/u/net/a/b", "nfs4"),
    ("/home/u/network", "xfs"),
    ("/home/u/net/scratch/x", "tmpfs"),
    ("/mnt/c/Users", "9p"),
    ("/mnt/cd", "ext4"),
    ("/MNT/C", "ext4"),
]


@pytest.mark.parametrize(("path", "fstype"), MOUNTED)
def test_the_longest_mount_point_above_a_path_is_its_mount(path: str, fstype: str) -> None:
    assert mounts.by_path(path, TABLE).fstype == fstype
    assert mounts.by_path(path, TABLE[::-1]).fstype == fstype


def test_of_two_mounts_at_one_point_the_later_covers_the_other() -> None:
    assert mounts.by_path("/home/u", [*TABLE, Row("/home", "nfs")]).fstype == "nfs"
    assert mounts.by_path("/etc", [*TABLE, Row("/", "overlay")]).fstype == "overlay"


def test_where_case_does_not_matter_it_does_not() -> None:
    assert mounts.by_path("/volumes/DATA/x", [Row("/", "apfs"), Row("/Volumes/Data", "smbfs")], fold=True) == Row(
        "/Volumes/Data", "smbfs"
    )


def test_a_table_that_is_empty_says_that_nothing_is_known() -> None:
    assert mounts.by_path("/etc", []) == Row("/", "unknown")
    assert mounts.by_number(7, TABLE) is None
    assert mounts.by_number(None, TABLE) is None


def test_linuxs_table_is_read_with_its_escapes_and_optional_fields() -> None:
    text = (
        "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
        r"90 27 0:50 / /mnt/with\040space\011and\134slash rw shared:7 master:1 - fuse.sshfs u@h:/\040x rw" + "\n"
        "91 27 0:51 /sub - /mnt/broken\n"
        "92 27 254:0 /home/u/a /srv/bound rw,relatime shared:1 - ext4 /dev/vda rw\n"
        "not a line of the table\n\n"
    )
    assert mounts.parse_mountinfo(text) == [
        Row("/", "ext4", 27),
        Row("/mnt/with space\tand\\slash", "fuse.sshfs", 90),
        Row("/srv/bound", "ext4", 92),
    ]


# --- what may be expected ---

LOCAL = "ext2 ext3 ext4 xfs btrfs zfs f2fs bcachefs tmpfs ramfs overlay apfs hfs ufs ntfs ntfs3 exfat vfat msdos"
LOCAL_FUSE = "fuseblk fuse.ntfs-3g fuse.exfat fuse.fuse-overlayfs fuse.gocryptfs fuse.encfs"
SHARED = """
    nfs nfs4 cifs smb3 smbfs 9p drvfs afs afpfs ncpfs davfs webdav ceph glusterfs lustre gfs2 ocfs2 virtiofs vboxsf
    prl_fs vmhgfs fakeowner fuse.sshfs fuse.rclone fuse.vmhgfs-fuse fuse.glusterfs fuse.s3fs fuse.grpcfuse fuse.osxfs
    fuse macfuse osxfuse fuse-t NFS CIFS
"""


@pytest.mark.parametrize("fstype", [*LOCAL.split(), *LOCAL_FUSE.split(), "something-new", *SHARED.split()])
def test_events_and_the_log_work_where_all_goes_through_this_kernel_and_nowhere_else(fstype: str) -> None:
    here = fstype not in SHARED.split()
    assert mounts.classify("/m", fstype) == Mount("/m", fstype, events=here, wal=here)


WINDOWS_DRIVES = [
    (r"C:\Users\u\project", 3, True),
    (r"D:\stick", 2, True),
    (r"Z:\project", 4, False),
    (r"\\server\share\project", 3, False),
    (r"\\wsl$\Ubuntu\home\u", 3, False),
    (r"\\wsl.localhost\Ubuntu\home\u", 3, False),
    (r"\\?\UNC\server\share", 3, False),
    (r"\\?\C:\very\long", 3, True),
    ("//server/share", 3, False),
]


@pytest.mark.parametrize(("path", "drive_type", "safe"), WINDOWS_DRIVES)
def test_on_windows_the_drive_or_the_servers_name_decides(path: str, drive_type: int, safe: bool) -> None:
    found = mounts.of_windows(path, drive_type)
    assert (found.events, found.wal) == (safe, safe)


KERNELS = [
    ("4.4.0-19041-Microsoft", True),
    ("5.15.153.1-microsoft-standard-WSL2", True),
    ("6.8.0-45-generic", False),
    ("23.6.0", False),
]


@pytest.mark.parametrize(("release", "wsl"), KERNELS)
def test_windows_linux_is_known_by_its_kernel(release: str, wsl: bool) -> None:
    assert mounts.is_wsl(release) is wsl
    assert mounts.classify("/mnt/c", "9p", wsl=wsl).wsl is wsl
    assert mounts.classify("/home", "ext4", wsl=wsl).wsl is False


# --- the store ---


def test_a_store_on_a_shared_mount_is_refused_unless_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(tmp_path)
    monkeypatch.setattr(mounts, "describe", lambda path: mounts.classify("/net", "nfs4"))
    with pytest.raises(JobError) as caught:
        mounts.require_safe(workspace, allow=False)
    assert (caught.value.code, caught.value.retryable) == ("STORE_MOUNT_UNSAFE", True)
    assert "nfs4 (/net)" in caught.value.message
    mounts.require_safe(workspace, allow=True)
    monkeypatch.setattr(mounts, "describe", lambda path: mounts.classify("/mnt/c", "9p", wsl=True))
    with pytest.raises(JobError, match="a disk of Windows"):
        mounts.require_safe(workspace, allow=False)


def test_a_store_on_this_machines_disk_is_not(tmp_path: Path) -> None:
    mounts.require_safe(Workspace(tmp_path), allow=False)


def test_what_is_asked_about_need_not_be_there(tmp_path: Path) -> None:
    assert mounts.describe(tmp_path / "a" / "b") == mounts.describe(tmp_path)


# --- Linux' own table ---


@linux
def test_the_kernels_own_file_systems_are_told_apart(tmp_path: Path) -> None:
    assert mounts.describe(Path("/proc/self")).fstype == "proc"
    assert mounts.describe(Path("/sys")).fstype == "sysfs"
    (tmp_path / "link").symlink_to("/proc")
    assert mounts.describe(tmp_path / "link" / "self").fstype == "proc"


@linux
def test_the_path_alone_leads_to_the_same_mount_as_its_number() -> None:
    for path in ("/proc", "/sys", "/dev", "/"):
        rows = mounts.parse_mountinfo(Path("/proc/self/mountinfo").read_text())
        assert mounts.by_path(path, rows).fstype == mounts.describe(Path(path)).fstype


_LOOK = """
import sys
from pathlib import Path
from bridge.store import mounts
found = mounts.describe(Path(sys.argv[1]))
print(found.point, found.fstype)
"""


def in_a_namespace(base: Path, script: str, path: Path) -> str:
    """What ``describe`` says of a path after a shell has mounted something, where only it can see."""
    command = ["unshare", "-m", "sh", "-ec", f'{script}\n"$0" -c "$1" "$2"', sys.executable, _LOOK, str(path)]
    found = subprocess.run(command, cwd=base, env={**os.environ, "PYTHONPATH": str(PROJECT)},
                           capture_output=True, text=True, timeout=PATIENCE)  # fmt: skip
    if found.returncode and "unshare" in found.stderr:
        pytest.skip("no mount namespaces here")
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


REAL_MOUNTS = [
    ("mount -t tmpfs x inner", "inner/a", "tmpfs"),
    ("mount -t tmpfs x inner; mkdir inner/a; mount -t ramfs x inner/a", "inner/a/b", "ramfs"),
    ("mount -t tmpfs x inner; mkdir inner/a bound; mount --bind inner/a bound", "bound/b", "tmpfs"),
    # A mount that another one hides: by the path alone, the hidden one would be taken.
    ("mkdir inner/a; mount -t ramfs x inner/a; mount -t tmpfs x inner; mkdir inner/a", "inner/a", "tmpfs"),
    ("mkdir low up work; mount -t overlay x -o lowerdir=low,upperdir=up,workdir=work inner", "inner", "overlay"),
]


@linux
@pytest.mark.skipif(sys.platform == "linux" and os.getuid() != 0, reason="only root mounts")
@pytest.mark.parametrize(
    ("script", "at", "fstype"), REAL_MOUNTS, ids=["mounted", "nested", "bound", "hidden", "overlay"]
)
def test_real_mounts_are_found_where_they_are(tmp_path: Path, script: str, at: str, fstype: str) -> None:
    base = tmp_path / "with space"
    (base / "inner").mkdir(parents=True)
    found = in_a_namespace(base, script, base / at)
    assert found.split(" ")[-1] == fstype
    assert found.startswith(str(base))
