"""Workspaces as earlier versions left them: cognee's SQLite file and raw texts, as cognee 0.3.4 and 0.4.1 wrote them.

``data/cognee-<version>.sql`` is what ``cognee.add`` of that version, run on ``TEXTS`` one after another into the
dataset ``chat_memory``, wrote into its tables ``data``, ``datasets`` and ``dataset_data``. Only the workspace's path,
the day and the owner's id were changed.
"""

import sqlite3
from contextlib import closing
from hashlib import md5
from pathlib import Path
from uuid import NAMESPACE_OID, uuid5

VERSIONS = ("0.3.4", "0.4.1")

PLAIN = """Summary: Plan 014 Summaries
Topic: Plan 014 Summaries
Context: We moved chat summaries into structured form.
Decisions:
- Keep summaries as plain text first
- Write metadata later
Rationale:
- Less to break at once
OpenQuestions:
- Who compacts?
NextSteps:
- Write the migration
References:
- Plan 014
- src/summary.py
TimeScope: Nov 17 14:00-16:30
"""
CONVERSATION = (
    "User asked: Which port does the worker use?\n\nAssistant answered: Port 8127 by default."
    "\n\nMetadata: timestamp=2025-11-10T09:30:00Z, importance=0.7"
)
ENRICHED = """<!-- Template: v1.0 -->
# Conversation Summary: Ranking weights

**Metadata:**
- Topic ID: ranking-weights
- Session ID: 2025-11-18-session-2
- Plan ID: 015
- Status: Active
- Created: 2025-11-18T10:00:00Z
- Updated: 2025-11-18T10:05:00Z

## Context
How recency and relevance are weighed.

## Key Decisions
- Half-life is seven days
"""
NOTE = "Just a note of mine."
TEXTS = (PLAIN, CONVERSATION, ENRICHED, NOTE)

# Not among those that cognee was given.
ENRICHED_NEWER = (
    ENRICHED.replace("v1.0", "v1.1")
    .replace("- Updated:", "- Source Created: 2025-11-12T08:00:00Z\n- Updated:")
    .replace("Ranking weights", "Ranking floor")
    .replace("ranking-weights", "ranking-floor")
)
BROKEN = ENRICHED.replace("- Status: Active", "- Status: Bogus")
GIVEN = (PLAIN, ENRICHED, ENRICHED_NEWER, CONVERSATION, BROKEN, NOTE)


class OldWorkspace:
    """A workspace with an old store in place. Further texts may be added as that version would have."""

    def __init__(self, root: Path, version: str) -> None:
        self.root = root
        self.data = root / ".cognee_data"
        self.store = root / ".cognee_system" / "databases" / "cognee_db"
        self.store.parent.mkdir(parents=True, exist_ok=True)
        self.data.mkdir(exist_ok=True)
        sql = Path(__file__).with_name("data") / f"cognee-{version}.sql"
        with closing(sqlite3.connect(self.store)) as connection:
            connection.executescript(sql.read_text("utf-8"))
        for text in TEXTS:
            self.write(text)

    def write(self, text: str) -> Path:
        """A raw text under the name that cognee gives it."""
        path = self.data / f"text_{md5(text.encode(), usedforsecurity=False).hexdigest()}.txt"
        path.write_bytes(text.encode())
        return path

    def add(self, text: str, at: str = "2025-11-20 10:00:00.000000", location: str | None = None) -> Path:
        """As ``cognee.add`` of one text: its file, and a row that names it."""
        path = self.write(text)
        place = path.as_uri() if location is None else location
        row = (uuid5(NAMESPACE_OID, place).hex, path.stem, "txt", place, at)
        with closing(sqlite3.connect(self.store)) as connection, connection:
            connection.execute(
                "INSERT INTO data (id, name, extension, raw_data_location, created_at) VALUES (?, ?, ?, ?, ?)", row
            )
        return path
