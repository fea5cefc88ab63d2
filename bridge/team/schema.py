"""The tables in Postgres, and the migrations that upgrade them: forward only, all in one transaction.

A program reads the version before each use of the database, so it stops as soon as a newer one has upgraded. An upgrade
waits a few seconds for long transactions, and then lets those pass that would wait behind it; it is tried again.

Every key begins with the workspace, so that the tables can be partitioned by it. An older program refuses a newer
schema. Row-level security is a second wall: a role that owns nothing sees the rows of one workspace only, the one that
its transaction has set as ``cognee_memory.workspace``.
"""

from __future__ import annotations

from typing import Any

from psycopg import Connection, errors

from jobs.errors import JobError

NAME = "cognee_memory"
_LOCK = 0x636F676E  # an advisory lock, so that two workers that start together do not upgrade together

_LOCK_MILLISECONDS = 5000

_TRUTH = """
CREATE TABLE workspaces (
    id uuid PRIMARY KEY,
    name text NOT NULL DEFAULT '',
    -- the format of memory.db that its rows need
    format integer NOT NULL,
    embedder text,
    dimensions integer,
    -- the number of its last change, given under this row's lock: the order of numbers is that of commits
    last_seq bigint NOT NULL DEFAULT 0,
    -- the id of that change: after a restore from a backup, a number may come again, but no id
    last_change uuid NOT NULL DEFAULT gen_random_uuid(),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- who runs its jobs, until when by this server's clock; the lease's number is the fence of what its holder does
    lease bigint NOT NULL DEFAULT 0,
    lease_owner text,
    lease_until timestamptz,
    leased_at timestamptz NOT NULL DEFAULT 'epoch',
    is_paused boolean NOT NULL DEFAULT false,
    -- whose copy has the knowledge graph, and until when nobody else makes one
    graph_owner text,
    graph_until timestamptz,
    -- when old jobs and changes were last removed
    pruned_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- of its waiting jobs: the earliest time at which one is due, null without one, and the highest priority
    due_at timestamptz,
    priority integer NOT NULL DEFAULT 0
);
-- in the order in which leases are taken, so that a claim reads one entry, however many workspaces there are
CREATE INDEX workspaces_due ON workspaces (priority DESC, leased_at) WHERE due_at IS NOT NULL;
CREATE INDEX workspaces_graph ON workspaces (graph_owner) WHERE graph_owner IS NOT NULL;

-- who may reach what through the gateway: a workspace is its person's, and its group's where it has one
CREATE TABLE persons (name text PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE TABLE groups (name text PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE TABLE members (
    group_name text NOT NULL REFERENCES groups ON DELETE CASCADE,
    person text NOT NULL REFERENCES persons ON DELETE CASCADE,
    PRIMARY KEY (group_name, person)
);
CREATE INDEX members_person ON members (person);
-- a token is shown once; only the digest of its secret part is kept
CREATE TABLE tokens (
    id text PRIMARY KEY,
    person text NOT NULL REFERENCES persons ON DELETE CASCADE,
    label text NOT NULL,
    digest bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz,
    revoked_at timestamptz
);
ALTER TABLE workspaces ADD person text REFERENCES persons, ADD group_name text REFERENCES groups;

-- the jobs: the record is the truth about each; a job whose record has ended keeps no texts once its machine has them
CREATE TABLE jobs (
    workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    job_id text NOT NULL,
    job_sha256 text NOT NULL,
    -- in the order of acceptance
    seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL,
    -- the only machine that can run it, for a job about that machine's files
    runs_on text,
    -- whether only the owner of the workspace's graph runs it
    needs_graph boolean NOT NULL DEFAULT false,
    -- the machine that posted it last
    asked_by text NOT NULL,
    priority integer NOT NULL,
    state text NOT NULL CHECK (state IN ('waiting', 'running', 'ended')),
    due_at timestamptz NOT NULL DEFAULT '-infinity',
    expires_at timestamptz,
    is_cancel_requested boolean NOT NULL DEFAULT false,
    -- the job as it was accepted; null once it has ended and was reported
    job json,
    record json NOT NULL,
    -- counts the changes of the record
    version integer NOT NULL DEFAULT 1,
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace_id, job_id)
);
CREATE INDEX jobs_waiting ON jobs (workspace_id, priority DESC, seq) WHERE state = 'waiting';
CREATE INDEX jobs_running ON jobs (workspace_id) WHERE state = 'running';
CREATE INDEX jobs_ended ON jobs (workspace_id, changed_at) WHERE state = 'ended';
CREATE INDEX jobs_failed ON jobs (workspace_id, changed_at DESC) WHERE record->>'state' = 'failed';

-- the copies of a workspace: how far each is, and when it was last there
CREATE TABLE copies (
    workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    node text NOT NULL,
    applied_seq bigint NOT NULL,
    -- up to which change nothing of what was forgotten is left there
    removed_seq bigint NOT NULL DEFAULT 0,
    version text NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace_id, node)
);

-- the machines on which a job was dropped, and which version of its record they have; none once they have its end
CREATE TABLE job_askers (
    node text NOT NULL,
    workspace_id uuid NOT NULL,
    job_id text NOT NULL,
    reported integer NOT NULL DEFAULT 1,
    PRIMARY KEY (node, workspace_id, job_id),
    FOREIGN KEY (workspace_id, job_id) REFERENCES jobs ON DELETE CASCADE
);
CREATE INDEX job_askers_job ON job_askers (workspace_id, job_id);

-- the memories and all that belongs to them, as tables.py lists it; a deleted row has no value
CREATE TABLE rows (
    workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    tbl text NOT NULL,
    key text NOT NULL,
    seq bigint NOT NULL,
    value json,
    vectors bytea,
    vectors_seq bigint,
    PRIMARY KEY (workspace_id, tbl, key)
);
-- float bytes cannot be compressed
ALTER TABLE rows ALTER vectors SET STORAGE EXTERNAL;
CREATE INDEX rows_feed ON rows (workspace_id, seq);

-- one line for each change: who made it, and with which job; never texts
CREATE TABLE changes (
    workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    seq bigint NOT NULL,
    id uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    node text NOT NULL,
    jobs json NOT NULL,
    row_count integer NOT NULL,
    PRIMARY KEY (workspace_id, seq)
);
"""

_WALLS = """
-- The second wall: a role that is not the owner, such as the gateway's, sees the rows of the one workspace that its
-- transaction names, and only if the person that it names may see it. Both are settings of the transaction.
CREATE FUNCTION may_see(wanted uuid) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = cognee_memory, pg_catalog AS $$
    SELECT EXISTS (
        SELECT 1 FROM workspaces WHERE id = wanted AND (
            person = current_setting('cognee_memory.person', true)
            OR group_name IN (
                SELECT group_name FROM members WHERE members.person = current_setting('cognee_memory.person', true)
            )
        )
    )
$$;
CREATE FUNCTION workspace_in_use() RETURNS uuid LANGUAGE sql STABLE
SET search_path = cognee_memory, pg_catalog AS $$
    SELECT nullif(current_setting('cognee_memory.workspace', true), '')::uuid
    WHERE may_see(nullif(current_setting('cognee_memory.workspace', true), '')::uuid)
$$;
ALTER TABLE workspaces ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON workspaces USING (may_see(id)) WITH CHECK (
    person = current_setting('cognee_memory.person', true)
    AND (group_name IS NULL OR group_name IN (
        SELECT members.group_name FROM members WHERE members.person = current_setting('cognee_memory.person', true)
    ))
    OR may_see(id)
);
ALTER TABLE rows ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON rows USING (workspace_id = (SELECT workspace_in_use()));
ALTER TABLE changes ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON changes USING (workspace_id = (SELECT workspace_in_use()));
ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON jobs USING (workspace_id = (SELECT workspace_in_use()));
ALTER TABLE job_askers ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON job_askers USING (workspace_id = (SELECT workspace_in_use()));
ALTER TABLE copies ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON copies USING (workspace_id = (SELECT workspace_in_use()));
"""

# Unless its search path names pg_temp, a function looks among the temporary tables first: a role could put its own view
# there, and what the view calls would run with the rights of the function's owner.
_NAMES = """
CREATE OR REPLACE FUNCTION may_see(wanted uuid) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, cognee_memory, pg_temp AS $$
    SELECT EXISTS (
        SELECT 1 FROM cognee_memory.workspaces AS w WHERE w.id = wanted AND (
            w.person = current_setting('cognee_memory.person', true)
            OR w.group_name IN (
                SELECT m.group_name FROM cognee_memory.members AS m
                WHERE m.person = current_setting('cognee_memory.person', true)
            )
        )
    )
$$;
CREATE OR REPLACE FUNCTION workspace_in_use() RETURNS uuid LANGUAGE sql STABLE
SET search_path = pg_catalog, cognee_memory, pg_temp AS $$
    SELECT nullif(current_setting('cognee_memory.workspace', true), '')::uuid
    WHERE cognee_memory.may_see(nullif(current_setting('cognee_memory.workspace', true), '')::uuid)
$$;
"""

_IDS = """
-- of a memory, so that no two have the same: not an index of its JSON, which row-level security would not let use
ALTER TABLE rows ADD COLUMN memory_id text;
UPDATE rows SET memory_id = value->>'id' WHERE tbl = 'memories';
CREATE INDEX rows_memory_id ON rows (workspace_id, memory_id) WHERE memory_id IS NOT NULL;
"""

_ACCESS = """
-- a token is kept after its person, so that it is known which there were
ALTER TABLE tokens DROP CONSTRAINT tokens_person_fkey, ADD last_used_at timestamptz;
-- by which token a copy's machine was last there; null where it has the database's address
ALTER TABLE copies ADD token text;

-- Roles that may not read or change tokens may know of one whose id they have.
CREATE FUNCTION note_use(used text) RETURNS void LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, cognee_memory, pg_temp AS $$
    UPDATE cognee_memory.tokens SET last_used_at = clock_timestamp() WHERE id = used
$$;
CREATE FUNCTION token_of(wanted text, workspace uuid, OUT label text, OUT has_access boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, cognee_memory, pg_temp AS $$
    SELECT t.label, t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp()) AND EXISTS (
        SELECT 1 FROM cognee_memory.workspaces AS w WHERE w.id = workspace AND (
            w.person = t.person
            OR w.group_name IN (SELECT m.group_name FROM cognee_memory.members AS m WHERE m.person = t.person)
        )
    )
    FROM cognee_memory.tokens AS t WHERE t.id = wanted
$$;
"""

_ATTACHMENTS = """
-- What a job needs of its machine's files, in parts of a compressed stream that ``digest`` names: it is posted once all
-- are here, and leaves none when it has ended.
CREATE TABLE job_attachments (
    workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    job_id text NOT NULL,
    digest text NOT NULL,
    part integer NOT NULL,
    parts integer NOT NULL,
    data bytea NOT NULL,
    attached_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace_id, job_id, digest, part)
);
ALTER TABLE job_attachments ALTER data SET STORAGE EXTERNAL;
ALTER TABLE job_attachments ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON job_attachments USING (workspace_id = (SELECT workspace_in_use()));

-- what a migration or a capture did, for its undoing: ids and digests, never texts
CREATE TABLE receipts (
    workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    receipt_id text NOT NULL,
    receipt json NOT NULL,
    PRIMARY KEY (workspace_id, receipt_id)
);
ALTER TABLE receipts ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON receipts USING (workspace_id = (SELECT workspace_in_use()));

-- Jobs that their machine alone could run: it has them still, and posts them with their attachments, or runs them.
DELETE FROM jobs WHERE runs_on IS NOT NULL AND state <> 'ended';
ALTER TABLE jobs DROP COLUMN runs_on;
"""

# The migration at index n upgrades the schema from version n to n + 1.
MIGRATIONS: tuple[str, ...] = (_TRUTH, _WALLS, _NAMES, _IDS, _ACCESS, _ATTACHMENTS)
VERSION = len(MIGRATIONS)


def bring_up(connection: Connection[Any]) -> None:
    """Create the schema or upgrade it to the present version.

    Raises JobError: TEAM_NEWER; TEAM_UNREACHABLE while a long transaction uses its tables; TEAM_UNUSABLE for a role
    that may not upgrade them.
    """
    try:
        _bring_up(connection)
    except errors.InsufficientPrivilege:
        require_present(connection)
    except errors.LockNotAvailable:
        raise JobError(
            "TEAM_UNREACHABLE",
            "The tables of the team's database are in use, so they are not upgraded yet. Nothing was changed.",
        ) from None


def _bring_up(connection: Connection[Any]) -> None:
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = {_LOCK_MILLISECONDS}".encode())
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        found = version_of(connection)
        if found == VERSION:
            return
        require_known(found)
        if found == 0:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {NAME}")
            connection.execute(f"CREATE TABLE IF NOT EXISTS {NAME}.schema_version (version integer NOT NULL)")
        connection.execute(f"SET LOCAL search_path TO {NAME}, pg_catalog")
        for migration in MIGRATIONS[found:]:
            connection.execute(migration.encode())
        connection.execute("DELETE FROM schema_version")
        connection.execute("INSERT INTO schema_version VALUES (%s)", (VERSION,))


def require_present(connection: Connection[Any]) -> None:
    """Raises JobError: TEAM_NEWER, TEAM_UNUSABLE for a schema that an operator has still to upgrade."""
    found = version_of(connection)
    require_known(found)
    if found < VERSION:
        raise JobError(
            "TEAM_UNUSABLE",
            f"The team's database has schema {found}; this program needs {VERSION}.",
            remediation="As the owner of the tables, with this version of the program: cognee-memory team database.",
        )


def noted(connection: Connection[Any]) -> int | None:
    """The version as the schema notes it; None if it does not. It must exist."""
    row = connection.execute(f"SELECT version FROM {NAME}.schema_version".encode()).fetchone()  # noqa: S608 - a constant
    return None if row is None else int(row[0])


def version_of(connection: Connection[Any]) -> int:
    """The version of the schema; 0 if there is none."""
    (exists,) = connection.execute("SELECT to_regclass(%s)", (f"{NAME}.schema_version",)).fetchone() or (None,)
    return 0 if exists is None else noted(connection) or 0


def require_known(found: int) -> None:
    """Raises JobError: TEAM_NEWER for a version that a later program made."""
    if found > VERSION:
        raise JobError("TEAM_NEWER", f"The team's database has schema {found}; this program knows up to {VERSION}.")
