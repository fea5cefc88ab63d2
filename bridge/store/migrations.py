"""The tables of memory.db, and the migrations that upgrade a database of an older format."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable
from pathlib import Path

from jobs import files
from jobs.errors import JobError

from ..memory import LISTS
from .rows import dated

_FIRST_FORMAT = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- number is never reused; a passage of the memory is a row of the vector file in force
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
    passage_count INTEGER NOT NULL
);
CREATE INDEX memories_topic ON memories (topic_id);

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

-- each text is embedded once, whoever asks
CREATE TABLE embeddings (
    model TEXT NOT NULL,
    text_sha256 BLOB NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (model, text_sha256)
) WITHOUT ROWID;
"""

WORDS = 'CREATE VIRTUAL TABLE {table} USING fts5 (topic, body, tokenize = "porter unicode61 remove_diacritics 2")'


def _create(connection: sqlite3.Connection) -> None:
    connection.executescript("BEGIN IMMEDIATE;" + _FIRST_FORMAT + WORDS.format(table="words"))
    connection.execute("INSERT INTO meta VALUES ('workspace_id', ?)", (str(uuid.uuid4()),))


_EFFECTS = """
-- which jobs have had their effect: written in the effect's own transaction
CREATE TABLE effects (
    job_id TEXT NOT NULL,
    job_sha256 TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (job_id, job_sha256)
) WITHOUT ROWID;
CREATE INDEX effects_at ON effects (at);
"""


def _note_effects(connection: sqlite3.Connection) -> None:
    connection.executescript("BEGIN IMMEDIATE;" + _EFFECTS)


_CATALOGUE = """
-- the whole text's row in the file of wholes; when the age begins, in seconds since 1970
ALTER TABLE memories ADD COLUMN whole_row INTEGER;
ALTER TABLE memories ADD COLUMN dated REAL;

-- A row of its own instead of a place in an index: there, a vector takes a page of its own besides.
CREATE TABLE kept_embeddings (
    model TEXT NOT NULL,
    text_sha256 BLOB NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (model, text_sha256)
);
INSERT INTO kept_embeddings SELECT model, text_sha256, vector FROM embeddings;
DROP TABLE embeddings;
ALTER TABLE kept_embeddings RENAME TO embeddings;

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
"""


def _make_catalogue(connection: sqlite3.Connection) -> None:
    """Add the catalogue. The rows of wholes follow with the next generation of the vector files."""
    connection.executescript("BEGIN IMMEDIATE;" + _CATALOGUE)
    query = "SELECT number, kind, created_at, source_created_at, stored_at FROM memories"
    for number, *dates in connection.execute(query).fetchall():
        connection.execute("UPDATE memories SET dated = ? WHERE number = ?", (dated(*dates), number))


_LINEAGE = """
-- A converted original is hidden and linked from what it became. What is hidden is neither found nor in the graph.
ALTER TABLE memories ADD COLUMN migrated_from TEXT;
-- numbers that no memory ever had, below the highest: first and last of each run
CREATE TABLE numbers_skipped (first INTEGER PRIMARY KEY, last INTEGER NOT NULL);
CREATE INDEX memories_migrated ON memories (migrated_from) WHERE migrated_from IS NOT NULL;
-- to find a memory by its words, whatever its id
CREATE INDEX memories_words ON memories (kind, topic_id, length(body)) WHERE hidden = 0;

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

-- what was asked of the language model, by UTC day and job
CREATE TABLE llm_usage (
    day TEXT NOT NULL,
    job_id TEXT NOT NULL,
    calls INTEGER NOT NULL DEFAULT 0,
    prompt_tokens INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
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


def _link_lineage(connection: sqlite3.Connection) -> None:
    connection.executescript("BEGIN IMMEDIATE;" + _LINEAGE)


_COSTS = """
-- of the calls whose price is known; NULL where none is
ALTER TABLE llm_usage ADD COLUMN cost_usd REAL;
"""


def _note_costs(connection: sqlite3.Connection) -> None:
    connection.executescript("BEGIN IMMEDIATE;" + _COSTS)


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


def _record_captures(connection: sqlite3.Connection) -> None:
    connection.executescript("BEGIN IMMEDIATE;" + _CAPTURES)


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


def _keep_feedback(connection: sqlite3.Connection) -> None:
    connection.executescript("BEGIN IMMEDIATE;" + _FEEDBACK)


_TURNS = """
-- of which turns a captured session consists, as digests: so that a fork does not bring the common part again
CREATE TABLE captured_turns (
    tool TEXT NOT NULL,
    session_id TEXT NOT NULL,
    digests TEXT NOT NULL,
    PRIMARY KEY (tool, session_id)
) WITHOUT ROWID;
"""


def _record_turns(connection: sqlite3.Connection) -> None:
    connection.executescript("BEGIN IMMEDIATE;" + _TURNS)


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


def _keep_replacements(connection: sqlite3.Connection) -> None:
    connection.executescript("BEGIN IMMEDIATE;" + _REPLACEMENTS)


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


def _keep_verdicts(connection: sqlite3.Connection) -> None:
    connection.executescript("BEGIN IMMEDIATE;" + _VERDICTS)


def _weigh_verdicts(connection: sqlite3.Connection) -> None:
    """How sure a language model was of its verdict; NULL for anybody else's."""
    connection.executescript("BEGIN IMMEDIATE; ALTER TABLE verdicts ADD COLUMN confidence REAL;")


def _label(name: str) -> Callable[[sqlite3.Connection], None]:
    """Adds a property with several values (``memory.LISTS``)."""

    def add(connection: sqlite3.Connection) -> None:
        connection.executescript(
            f"BEGIN IMMEDIATE; ALTER TABLE memories ADD COLUMN {name} TEXT NOT NULL DEFAULT '[]';"
            f"CREATE INDEX memories_{name} ON memories ({name}) WHERE {name} <> '[]';"
        )

    return add


# The migration at index n upgrades the database from format n to n + 1.
MIGRATIONS: list[Callable[[sqlite3.Connection], None]] = [
    _create,
    _note_effects,
    _make_catalogue,
    _link_lineage,
    _note_costs,
    _record_captures,
    _keep_feedback,
    _record_turns,
    _keep_replacements,
    _keep_verdicts,
    _label("tags"),
    _weigh_verdicts,
    _label("anchors"),
]
FORMAT = len(MIGRATIONS)

_WITH_EFFECTS = MIGRATIONS.index(_note_effects) + 1
_WITHOUT_EFFECTS = "CREATE TEMP TABLE effects (job_id, job_sha256, at);"
_WITH_LINEAGE = MIGRATIONS.index(_link_lineage) + 1
_WITHOUT_LINEAGE = """
CREATE TEMP TABLE compactions (
    seq, record_id, topic_id, applied_at, job_id, job_sha256, preview_digest, sources, conflicts, narrative_source,
    restored_at, restored_by, restored
);
CREATE TEMP TABLE cognified (memory_id TEXT, data_id TEXT);
CREATE TEMP TABLE llm_usage (day, job_id, calls, prompt_tokens, completion_tokens, cost_usd);
"""
_WITH_COSTS = MIGRATIONS.index(_note_costs) + 1
_WITHOUT_COSTS = "CREATE TEMP VIEW llm_usage AS SELECT *, NULL AS cost_usd FROM main.llm_usage"
_WITH_FEEDBACK = MIGRATIONS.index(_keep_feedback) + 1
_WITHOUT_FEEDBACK = 'CREATE TEMP TABLE feedback (memory_id TEXT, "by", verdict, at, query, note)'

_WITH_CAPTURES = MIGRATIONS.index(_record_captures) + 1
_WITHOUT_CAPTURES = _CAPTURES.replace("CREATE TABLE", "CREATE TEMP TABLE").split("CREATE INDEX")[0]
_WITH_TURNS = MIGRATIONS.index(_record_turns) + 1
_WITHOUT_TURNS = _TURNS.replace("CREATE TABLE", "CREATE TEMP TABLE")


def bring_up(connection: sqlite3.Connection, path: Path) -> None:
    """Upgrade the database to the present format, step by step. An older one is backed up beside it first.

    Raises JobError: STORE_NEWER.
    """
    found = format_of(connection, path)
    if 0 < found < FORMAT:
        _back_up(connection, path, found)
    for number in range(found, FORMAT):
        MIGRATIONS[number](connection)
        connection.execute(f"PRAGMA user_version = {number + 1}")
        connection.execute("COMMIT")


def format_of(connection: sqlite3.Connection, path: Path) -> int:
    """The database's format; 0 if it has no tables yet. Raises JobError: STORE_NEWER."""
    number: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if number > FORMAT:
        raise JobError("STORE_NEWER", f"{path} has format {number}; this program reads up to {FORMAT}.")
    return number


def show_as_present(connection: sqlite3.Connection, found: int) -> None:
    """Give this connection the tables and columns that an older format lacks, empty and temporary."""
    columns = {str(row[1]) for row in connection.execute("PRAGMA main.table_info(memories)")}
    added = {"migrated_from": "NULL", **dict.fromkeys(LISTS, "'[]'")}
    if lacking := [f"{value} AS {name}" for name, value in added.items() if name not in columns]:
        view = f"CREATE TEMP VIEW memories AS SELECT *, {', '.join(lacking)} FROM main.memories"  # noqa: S608 - constants
        connection.execute(view)
    if found < _WITH_EFFECTS:
        connection.executescript(_WITHOUT_EFFECTS)
    if found < _WITH_LINEAGE:
        connection.executescript(_WITHOUT_LINEAGE)
    elif found < _WITH_COSTS:
        connection.executescript(_WITHOUT_COSTS)
    if found < _WITH_CAPTURES:
        connection.executescript(_WITHOUT_CAPTURES)

    if found < _WITH_FEEDBACK:
        connection.executescript(_WITHOUT_FEEDBACK)
    if found < _WITH_TURNS:
        connection.executescript(_WITHOUT_TURNS)


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
