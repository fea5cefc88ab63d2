"""What the VS Code extension has in common with the program."""

import json
from pathlib import Path

from tools import extension_bundle

ROOT = Path(__file__).resolve().parent.parent.parent
EXTENSION = ROOT / "extension"


def test_the_extension_has_the_version_of_the_program_that_it_carries() -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    assert manifest["version"] == extension_bundle.version_of(ROOT)


def test_it_has_the_projects_licence_and_an_icon_of_the_size_that_the_marketplace_asks_for() -> None:
    assert (EXTENSION / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    icon = (EXTENSION / "media" / "icon.png").read_bytes()
    assert (icon[:8], icon[16:24]) == (b"\x89PNG\r\n\x1a\n", b"\0\0\0\x80" * 2), "128 pixels"


def test_the_packages_of_the_lock_are_counted_for_the_progress() -> None:
    lock = "a-b==1.0 \\\n    --hash=sha256:00\nc.d==2 ; sys_platform == 'win32' \\\n    --hash=sha256:11\n# x==1\n"
    assert extension_bundle.package_count(lock) == 2


def test_the_name_of_a_build_changes_with_each_of_its_files(tmp_path: Path) -> None:
    wheel, lock = tmp_path / "wheel", tmp_path / "lock"
    wheel.write_text("a")
    lock.write_text("b")
    before = extension_bundle.build_of([wheel, lock])
    assert extension_bundle.build_of([wheel, lock]) == before
    lock.write_text("c")
    assert extension_bundle.build_of([wheel, lock]) != before
