"""The memory store: ``memory.db``, which is the source of truth, with its full-text index and its vector files.

No other package uses SQL for memories. It must not know cognee, ranking or operations. Other packages use the
modules down to ``similar_ids``, and those that hold a connection for their types alone; the architecture test lists
both, and the exceptions. In reading order:

``values``: the values that the store takes and returns, and a change of memories, which one transaction commits.
``catalogue``: what a snapshot knows of each memory besides its text.
``opening``: opens the store, its readers, and a copy for a trial; each loads no more than it needs.
``open_store``: the store as a process that writes keeps it, with its embedder and team.
``history_digests``: the history of compactions without texts.
``similar_ids``: similar ids for a topic or memory that does not exist.
``store``: the store over memory.db, with its one writer.
``change_writer``: a change as SQL, with the numbers of new memories.
``memories``: memories read by id, number or topic; the numbers that are taken, and the jobs whose effects are
committed.
``rows``: a memory as a row of memory.db, and back.
``outbox``: the pending deliveries to the graph, and the state in which the graph was left.
``history``: what was captured from which session; the compactions and restores.
``graph_content``: the nodes and edges that cognee extracted from memories, and what the graph must hold.
``feedback``: what people and agents said of memories.
``replacements``: which statements newer ones may replace.
``verdicts``: what they said of two statements, which wins over what ``replacements`` found.
``forgettings``: the forgettings that have begun, and what they still have to remove.
``llm_usage``: the calls, tokens and cost of the language model.
``word_index``: the full-text index, as the writer fills, checks and rebuilds it.
``full_text``: the full-text index's table, and the errors that mean damage.
``vector_index``: the generations of the vector files, their committed rows and checksums; the cache of embeddings.
``vector_files``: the vector files themselves.
``database``: connections to memory.db, transactions, and SQLite's errors as error codes.
``migrations``: the tables of memory.db, and upgrades from older formats.
``team``: memory.db as a copy of what a team's database holds.
``mounts``: whether the workspace's file system is safe for SQLite and reports file events.
``quarantine``: damaged files moved out of the way.
``reader``: the reader of memory.db, and snapshots for queries.
``memory_lists``: lists of memories and topics.
``export_rows``: the rows of an export.
``sizes``: counts and bytes for monitoring.
``inspection``: a quick inspection of memory.db and its indexes, and a summary for a support archive.
``audit``: a full check of memory.db and its indexes.
"""
