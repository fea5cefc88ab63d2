"""What a workspace still holds of words that are to be gone: in files, in any form, and in tables of vectors."""

import json
from collections.abc import Iterator
from pathlib import Path


def holds(root: Path, words: tuple[str, ...]) -> list[tuple[str, str]]:
    """The files that hold one of the words in any form, and where the vectors' tables hold one compressed."""
    found = []
    for path in root.rglob("*"):
        try:
            data = path.read_bytes().lower()
        except (IsADirectoryError, FileNotFoundError):  # a worker may remove it meanwhile
            data = b""
        for word in words:
            forms = (word.lower().encode(form) for form in ("utf-8", "utf-16-le", "utf-16-be"))
            if any(form in data for form in forms) or word in path.name:
                found.append((path.relative_to(root).as_posix(), word))
    return found + [(table, word) for table, text in _in_vectors(root) for word in words if word.lower() in text]


def _in_vectors(root: Path) -> Iterator[tuple[str, str]]:
    """Every version of every table of cognee's vectors, as its own engine reads it."""
    import lancedb

    for folder in (root / ".cognee_system" / "databases").glob("*.lancedb"):
        database = lancedb.connect(folder)
        for name in database.list_tables().tables:
            table = database.open_table(name)
            for version in table.list_versions():
                table.checkout(version["version"])
                columns = [column.name for column in table.schema if column.name != "vector"]
                yield name, json.dumps(table.to_arrow().select(columns).to_pylist(), default=str).lower()
