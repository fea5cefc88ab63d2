"""The kinds of jobs on the command line: for each kind its command, and the view ``show_KIND`` of its result.

A module submits its jobs and prints their results; the operation itself is in ``bridge``. In reading order:

``ingest``: stores a conversation or a summary.
``capture``: captures sessions of other tools, previews that, or undoes it.
``memories``: changes the status of a memory, says whether it helped, deletes memories permanently.
``resolve``: lists the decisions that may contradict each other, and says which of two holds.
``topics``: merges a topic's summaries into a decision record, and undoes that.
``graph``: asks, draws and fills the knowledge graph; rebuilds it, or the search index.
``transfer``: imports an export, migrates the memories of earlier versions.
"""

MODULES = {
    **dict.fromkeys(("set_status", "feedback", "forget"), "memories"),
    **dict.fromkeys(("compact", "restore"), "topics"),
    **dict.fromkeys(("ask", "cognify", "rebuild"), "graph"),
    **dict.fromkeys(("import", "migrate"), "transfer"),
}
"""The module of each kind whose name is not the module's."""
