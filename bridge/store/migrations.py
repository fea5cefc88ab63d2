"""The tables of memory.db, and the migrations that upgrade a database of an older format."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from jobs import files
from jobs.errors import JobError

# Format 5 is that of 0.4.0, the first version with a memory.db.
_FIRST_FORMAT = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('workspace_id', new_uuid());

-- Number is never reused; a passage of the memory is a row of the vector file in force, the whole text one of the file
-- of wholes. Dated: when the age begins, in seconds since 1970. A converted original is hidden and linked from what it
-- became. What is hidden is neither found nor in the graph.
CREATE TABLE memories (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    status TEXT,
    topic_id TEXT,
    session_id TEXT,
    plan_id TEXT,
    plan_key TEXT,
    created_at TEXT,
    updated_at TEXT,
    source_created_at TEXT,
    importance REAL,
    status_set_at TEXT,
    stored_at TEXT NOT NULL,
    origin_job TEXT,
    hidden INTEGER NOT NULL DEFAULT 0,
    body TEXT NOT NULL,
    sources TEXT NOT NULL DEFAULT '[]',
    passage_row INTEGER NOT NULL,
    passage_count INTEGER NOT NULL,
    whole_row INTEGER,
    dated REAL,
    migrated_from TEXT
);
CREATE INDEX memories_topic ON memories (topic_id);
CREATE INDEX memories_migrated ON memories (migrated_from) WHERE migrated_from IS NOT NULL;
-- to find a memory by its words, whatever its id
CREATE INDEX memories_words ON memories (kind, topic_id, length(body)) WHERE hidden = 0;
-- what a search looks at of every memory, without its words
CREATE INDEX memories_catalogue ON memories
    (passage_row, number, passage_count, whole_row, status, kind, dated) WHERE hidden = 0;

-- another, never to come again even in a restored backup, with every change but the addition of a memory with a new
-- highest number: readers keep the rest
INSERT INTO meta VALUES ('catalogue_version', '1');
CREATE TRIGGER memories_changed
    AFTER UPDATE OF passage_row, passage_count, whole_row, status, kind, hidden, dated ON memories
    BEGIN UPDATE meta SET value = hex(randomblob(8)) WHERE key = 'catalogue_version'; END;
CREATE TRIGGER memories_removed AFTER DELETE ON memories
    BEGIN UPDATE meta SET value = hex(randomblob(8)) WHERE key = 'catalogue_version'; END;
CREATE TRIGGER memories_squeezed_in AFTER INSERT ON memories
    WHEN NEW.number < (SELECT max(number) FROM memories)
    BEGIN UPDATE meta SET value = hex(randomblob(8)) WHERE key = 'catalogue_version'; END;

-- numbers that no memory ever had, below the highest: first and last of each run
CREATE TABLE numbers_skipped (first INTEGER PRIMARY KEY, last INTEGER NOT NULL);

-- what must not come back: ids only
CREATE TABLE tombstones (id TEXT PRIMARY KEY, forgotten_at TEXT NOT NULL) WITHOUT ROWID;

-- what is owed to the knowledge graph
CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id TEXT NOT NULL,
    action TEXT NOT NULL,
    added_at TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    last_error TEXT
);

-- each text is embedded once, whoever asks; a row, since in an index a vector takes a page of its own besides
CREATE TABLE embeddings (
    model TEXT NOT NULL,
    text_sha256 BLOB NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (model, text_sha256)
);

-- which jobs have had their effect: written in the effect's own transaction
CREATE TABLE effects (
    job_id TEXT NOT NULL,
    job_sha256 TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (job_id, job_sha256)
) WITHOUT ROWID;
CREATE INDEX effects_at ON effects (at);

-- what was merged into what, and what was taken back: ids, digests and counts, never texts
CREATE TABLE compactions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    record_id TEXT NOT NULL,
    topic_id TEXT NOT NULL,
    applied_at TEXT NOT NULL,
    job_id TEXT NOT NULL,
    job_sha256 TEXT NOT NULL,
    preview_digest TEXT NOT NULL,
    sources TEXT NOT NULL,
    conflicts TEXT NOT NULL,
    narrative_source TEXT NOT NULL,
    restored_at TEXT,
    restored_by TEXT,
    restored TEXT
);
CREATE INDEX compactions_record ON compactions (record_id);

-- what cognee found in raw texts, for which a language model was paid: so that a lost graph is written anew without
CREATE TABLE cognified (
    memory_id TEXT PRIMARY KEY,
    data_id TEXT NOT NULL,
    at TEXT NOT NULL,
    found TEXT NOT NULL
);
CREATE INDEX cognified_job ON cognified (json_extract(found, '$.job_id'));

-- in which memories' texts a node was found: what several share stays until the last of them goes
CREATE TABLE found_nodes (
    node_id TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    PRIMARY KEY (node_id, memory_id)
) WITHOUT ROWID;
CREATE INDEX found_nodes_memory ON found_nodes (memory_id);
CREATE TRIGGER cognified_kept AFTER INSERT ON cognified BEGIN
    INSERT OR IGNORE INTO found_nodes
        SELECT json_extract(value, '$.id'), NEW.memory_id FROM json_each(NEW.found, '$.nodes');
END;
CREATE TRIGGER cognified_dropped AFTER DELETE ON cognified BEGIN
    DELETE FROM found_nodes WHERE memory_id = OLD.memory_id;
END;

-- what was asked of the language model, by UTC day and job; the cost is that of the calls whose price is known
CREATE TABLE llm_usage (
    day TEXT NOT NULL,
    job_id TEXT NOT NULL,
    calls INTEGER NOT NULL DEFAULT 0,
    prompt_tokens INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL,
    PRIMARY KEY (day, job_id)
) WITHOUT ROWID;

-- a forgetting that has begun: which memories, and what still tells of them; ids, digests and names of ours only
CREATE TABLE forgettings (
    job_id TEXT NOT NULL,
    job_sha256 TEXT NOT NULL,
    accepted_at TEXT NOT NULL,
    begun_at TEXT NOT NULL,
    done_at TEXT,
    plan TEXT NOT NULL,
    UNIQUE (job_id, job_sha256, accepted_at)
);
"""

WORDS = 'CREATE VIRTUAL TABLE {table} USING fts5 (topic, body, tokenize = "porter unicode61 remove_diacritics 2")'

_CAPTURES = """
-- what was captured from which session of which tool: ids, digests and paths, never texts
CREATE TABLE captured_sessions (
    tool TEXT NOT NULL,
    session_id TEXT NOT NULL,
    path TEXT NOT NULL,
    version TEXT NOT NULL,
    state TEXT NOT NULL,
    captured_at TEXT NOT NULL,
    segments TEXT NOT NULL,
    PRIMARY KEY (tool, session_id)
) WITHOUT ROWID;
CREATE TABLE captured_memories (
    memory_id TEXT PRIMARY KEY,
    tool TEXT NOT NULL,
    session_id TEXT NOT NULL,
    path TEXT NOT NULL,
    first_place TEXT NOT NULL,
    last_place TEXT NOT NULL,
    method TEXT NOT NULL,
    confidence REAL NOT NULL,
    evidence TEXT NOT NULL,
    captured_at TEXT NOT NULL,
    job_id TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX captured_memories_session ON captured_memories (tool, session_id);
"""

_FEEDBACK = """
-- the last word of each person on a memory
CREATE TABLE feedback (
    memory_id TEXT NOT NULL,
    "by" TEXT NOT NULL,
    verdict TEXT NOT NULL,
    at TEXT NOT NULL,
    query TEXT,
    note TEXT,
    PRIMARY KEY (memory_id, "by")
) WITHOUT ROWID;
CREATE TRIGGER memories_feedback AFTER DELETE ON memories
    BEGIN DELETE FROM feedback WHERE memory_id = OLD.id; END;
-- the counts are a part of the catalogue
CREATE TRIGGER feedback_given AFTER INSERT ON feedback
    BEGIN UPDATE meta SET value = hex(randomblob(8)) WHERE key = 'catalogue_version'; END;
CREATE TRIGGER feedback_changed AFTER UPDATE ON feedback
    BEGIN UPDATE meta SET value = hex(randomblob(8)) WHERE key = 'catalogue_version'; END;
"""

_TURNS = """
-- of which turns a captured session consists, as digests: so that a fork does not bring the common part again
CREATE TABLE captured_turns (
    tool TEXT NOT NULL,
    session_id TEXT NOT NULL,
    digests TEXT NOT NULL,
    PRIMARY KEY (tool, session_id)
) WITHOUT ROWID;
"""

_REPLACEMENTS = """
-- Which statement may replace which: derived from the texts by the judge that meta names, and made again from them.
-- A statement is a decision of a memory: the memory's number and the index of its passage. A memory that was compared
-- has a row with passage 0, and one for each of its statements.
CREATE TABLE statements (
    number INTEGER NOT NULL,
    passage INTEGER NOT NULL,
    PRIMARY KEY (number, passage)
) WITHOUT ROWID;
CREATE TABLE replacements (
    older INTEGER NOT NULL,
    older_passage INTEGER NOT NULL,
    newer INTEGER NOT NULL,
    newer_passage INTEGER NOT NULL,
    probability REAL NOT NULL,
    PRIMARY KEY (older, older_passage, newer, newer_passage)
) WITHOUT ROWID;
CREATE INDEX replacements_newer ON replacements (newer);
CREATE TRIGGER memories_statements AFTER DELETE ON memories BEGIN
    DELETE FROM statements WHERE number = OLD.number;
    DELETE FROM replacements WHERE older = OLD.number OR newer = OLD.number;
END;
-- they are a part of the catalogue
CREATE TRIGGER replacement_found AFTER INSERT ON replacements
    BEGIN UPDATE meta SET value = hex(randomblob(8)) WHERE key = 'catalogue_version'; END;
CREATE TRIGGER replacement_dropped AFTER DELETE ON replacements
    BEGIN UPDATE meta SET value = hex(randomblob(8)) WHERE key = 'catalogue_version'; END;
"""

_VERDICTS = """
-- Which statement it is: the SHA-256 of its words, by which a verdict names it. The rows are made again with it.
DELETE FROM statements;
DELETE FROM replacements;
ALTER TABLE statements ADD COLUMN sha256 TEXT NOT NULL DEFAULT '';

-- what somebody said of two statements: which of them holds. It survives numbers, rebuilds and another judge.
CREATE TABLE verdicts (
    older TEXT NOT NULL,
    older_sha256 TEXT NOT NULL,
    newer TEXT NOT NULL,
    newer_sha256 TEXT NOT NULL,
    verdict TEXT NOT NULL,
    reason TEXT,
    "by" TEXT NOT NULL,
    at TEXT NOT NULL,
    job_id TEXT NOT NULL,
    PRIMARY KEY (older, older_sha256, newer, newer_sha256)
) WITHOUT ROWID;
CREATE TRIGGER memories_verdicts AFTER DELETE ON memories
    BEGIN DELETE FROM verdicts WHERE OLD.id IN (older, newer); END;
-- they are a part of the catalogue
CREATE TRIGGER verdict_given AFTER INSERT ON verdicts
    BEGIN UPDATE meta SET value = hex(randomblob(8)) WHERE key = 'catalogue_version'; END;
CREATE TRIGGER verdict_changed AFTER UPDATE ON verdicts
    BEGIN UPDATE meta SET value = hex(randomblob(8)) WHERE key = 'catalogue_version'; END;
CREATE TRIGGER statement_judged AFTER INSERT ON statements
    WHEN EXISTS (SELECT 1 FROM verdicts WHERE NEW.sha256 IN (older_sha256, newer_sha256))
    BEGIN UPDATE meta SET value = hex(randomblob(8)) WHERE key = 'catalogue_version'; END;
"""

# How sure a language model was of its verdict; NULL for anybody else's.
_CONFIDENCE = "ALTER TABLE verdicts ADD COLUMN confidence REAL;"

# A property with several values (``memory.LISTS``).
_LABEL = """
ALTER TABLE memories ADD COLUMN {name} TEXT NOT NULL DEFAULT '[]';
CREATE INDEX memories_{name} ON memories ({name}) WHERE {name} <> '[]';
"""

# Each format, and what makes it of the one before.
MIGRATIONS = {
    5: _FIRST_FORMAT + WORDS.format(table="words"),
    6: _CAPTURES,
    7: _FEEDBACK,
    8: _TURNS,
    9: _REPLACEMENTS,
    10: _VERDICTS,
    11: _LABEL.format(name="tags"),
    12: _CONFIDENCE,
    13: _LABEL.format(name="anchors"),
}
FORMAT = max(MIGRATIONS)


def bring_up(connection: sqlite3.Connection, path: Path) -> None:
    """Upgrade the database to the present format, step by step. An older one is backed up beside it first.

    Raises JobError: STORE_NEWER.
    """
    import uuid  # not at the top: a question creates no database

    found = format_of(connection, path)
    if 0 < found < FORMAT:
        _back_up(connection, path, found)
    connection.create_function("new_uuid", 0, lambda: str(uuid.uuid4()))
    for number, steps in MIGRATIONS.items():
        if number > found:
            connection.executescript(f"BEGIN IMMEDIATE; {steps}; PRAGMA user_version = {number}; COMMIT")


def format_of(connection: sqlite3.Connection, path: Path) -> int:
    """The database's format; 0 if it has no tables yet. Raises JobError: STORE_NEWER."""
    number: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if number > FORMAT:
        raise JobError("STORE_NEWER", f"{path} has format {number}; this program reads up to {FORMAT}.")
    return number


def show_as_present(connection: sqlite3.Connection) -> None:
    """Give this connection the tables and columns that an older format lacks, empty and temporary."""
    if connection.execute("PRAGMA user_version").fetchone()[0] == FORMAT:
        return
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as present:
        bring_up(present, Path(":memory:"))
        tables = present.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        for (table,) in tables.fetchall():
            here = {row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")}
            wanted = present.execute(f"PRAGMA table_info({table})").fetchall()
            lacking = {f'"{name}"': default or "NULL" for _, name, _, _, default, _ in wanted if name not in here}
            if lacking and here:
                columns = ", ".join(f"{default} AS {name}" for name, default in lacking.items())
                connection.execute(f"CREATE TEMP VIEW {table} AS SELECT *, {columns} FROM main.{table}")  # noqa: S608
            elif lacking:
                connection.execute(f"CREATE TEMP TABLE {table} ({', '.join(lacking)})")


def _back_up(connection: sqlite3.Connection, path: Path, number: int) -> None:
    """Write a whole copy or none, since SQLite leaves a partial copy when it is cut off, and does not sync it."""
    copy = path.with_name(f"memory.format-{number}.db")
    if not copy.exists():
        part = path.with_name(f".{copy.name}.tmp")
        files.replace(part, b"")  # created 0600 whatever the umask; an empty file may be filled
        try:
            connection.execute("VACUUM INTO ?", (str(part),))
            files.sync_file(part)
            files.rename(part, copy)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        files.sync_folder(path.parent)
