"""basic-memory's own notes and hybrid search, by the functions behind its MCP tools.

Run by ``benchmarks.peers`` in its environment: ``python basic_memory_run.py REQUEST.json ANSWER.json``. Its least
similarity is set to 0: the default of 0.55 is for another model.
"""

import asyncio
import json
import os
import sqlite3
import sys
from pathlib import Path

if not hasattr(sqlite3.Connection, "enable_load_extension"):
    import pysqlite3

    sys.modules["sqlite3"] = sys.modules["sqlite3.dbapi2"] = pysqlite3

_NUMBER_OF_HITS = 5  # for each wanted memory: several sections of a note may be found


async def run(asked):
    from basic_memory import db
    from basic_memory.config import ConfigManager
    from basic_memory.mcp.tools import create_memory_project, search_notes, write_note

    await db.get_or_create_db(ConfigManager().config.database_path)
    runs = {}
    for place, collection in enumerate(asked["collections"]):
        project = f"set{place}"
        await create_memory_project(project_name=project, project_path=str(Path.cwd() / project))
        ids = {}
        for number, row in enumerate(collection["memories"]):
            written = await write_note(
                title=f"{row['topic']} {number}".replace("/", " "),
                content=row["text"],
                directory="memories",
                project=project,
                output_format="json",
            )
            ids[written["permalink"]] = row["id"]
        for query in collection["queries"]:
            found = await search_notes(
                query=query["query"],
                project=project,
                search_type="hybrid",
                page_size=_NUMBER_OF_HITS * asked["depth"],
                output_format="json",
            )
            if not isinstance(found, dict):
                raise SystemExit(str(found))
            hits = [ids[hit["permalink"]] for hit in found["results"] if hit["permalink"] in ids]
            runs[query["id"]] = list(dict.fromkeys(hits))[: asked["depth"]]
    return {"runs": runs, "missing": []}


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    os.environ.update(
        BASIC_MEMORY_HOME=str(Path.cwd() / "main"),
        BASIC_MEMORY_CONFIG_DIR=str(Path.cwd() / "config"),
        BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED="true",
        BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER="openai",
        BASIC_MEMORY_SEMANTIC_EMBEDDING_MODEL="all-MiniLM-L6-v2",
        BASIC_MEMORY_SEMANTIC_EMBEDDING_DIMENSIONS=str(given["dimensions"]),
        BASIC_MEMORY_SEMANTIC_EMBEDDING_API_BASE=given["endpoint"],
        BASIC_MEMORY_SEMANTIC_EMBEDDING_API_KEY="none",
        BASIC_MEMORY_SEMANTIC_MIN_SIMILARITY="0",
    )
    Path(sys.argv[2]).write_text(json.dumps(asyncio.run(run(given))), "utf-8")
