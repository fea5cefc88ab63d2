"""LanceDB's files are synced: each new or changed file and folder once, at first all of them."""

from pathlib import Path

import pytest

from bridge.graph import lance
from bridge.graph.lance import LanceSync


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    real = lance._sync

    def sync(path: str) -> bool:
        found.append(Path(path).name)
        return real(path)

    monkeypatch.setattr(lance, "_sync", sync)
    return found


@pytest.fixture
def table(tmp_path: Path) -> Path:
    table = tmp_path / "cognee.lancedb" / "T.lance"
    (table / "data").mkdir(parents=True)
    (table / "data" / "one").write_bytes(b"1")
    (tmp_path / "cognee_graph").write_bytes(b"not to be opened: its holder would lose its lock")
    return table


def test_at_first_all_is_synced_files_before_their_folders(tmp_path: Path, table: Path, synced: list[str]) -> None:
    assert LanceSync(tmp_path).sync() == 5
    assert synced == ["one", "data", "T.lance", "cognee.lancedb", tmp_path.name]


def test_later_only_what_is_new_or_changed(tmp_path: Path, table: Path, synced: list[str]) -> None:
    files = LanceSync(tmp_path)
    files.sync()
    synced.clear()
    assert files.sync() == 0
    (table / "data" / "two").write_bytes(b"2")
    files.sync()
    assert synced == ["two", "data"]
    synced.clear()
    (table / "data" / "one").write_bytes(b"longer")
    files.sync()
    assert synced == ["one"]


def test_what_is_removed_meanwhile_is_no_trouble(tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = lance._sync

    def sync(path: str) -> bool:
        (table / "data" / "one").unlink(missing_ok=True)
        return real(path)

    monkeypatch.setattr(lance, "_sync", sync)
    assert LanceSync(tmp_path).sync() == 4
    assert LanceSync(tmp_path / "nowhere").sync() == 0
