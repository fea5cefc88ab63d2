"""The kinds of jobs on the command line: for each kind its command ``run`` and the view ``show`` of its result.

A module submits its job and prints the result; the operation itself is in ``bridge``. In reading order:

``ingest``: stores a conversation or a summary.
``import_``: imports an export.
``capture``: captures sessions of other tools, previews that, or undoes it.
``migrate``: migrates the memories of earlier versions, or undoes a migration.
``cognify``: extracts entities and relations from raw texts.
``ask``: asks the knowledge graph.
``graph``: draws the knowledge graph.
``set_status``: changes the status of a memory.
``feedback``: says whether a memory helped.
``resolve``: lists the decisions that may contradict each other, and says which of two holds.
``compact``: merges a topic's summaries into a decision record.
``restore``: undoes a compaction.
``forget``: deletes memories permanently.
``rebuild``: rebuilds the search index or the knowledge graph.
"""
