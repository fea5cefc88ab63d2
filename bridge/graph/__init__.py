"""The knowledge graph: cognee, its files, its language model, and the delivery of the outbox to it.

Only the modules ``cognee_*`` import cognee; all others stay importable without it. The graph is derived data:
``memory.db`` is the source of truth. In reading order:

``installed``: whether cognee is there at all.
``open_stores``: the memory store and the graph, as operations use them.
``graph``: when the graph is opened, made again, filled, compared, rewritten and closed.
``outbox_relay``: the delivery of outbox entries to the graph.
``graph_files``: the graph's files: checked, quarantined, rewritten.
``earlier_stores``: texts in cognee stores that existed before, read for a migration.
``llm``: which language model the settings name.
``llm_budget``: the budgets for calls to the language model.
``llm_failures``: provider errors as error codes.
``tool_model``: the command line of a coding tool as the language model.
``cognee_env``: the environment of the process that runs cognee.
``cognee_process``: cognee imported, and its event loop.
``cognee_store``: the graph in cognee's stores, as one class.
``cognee_opening``: cognee's engines: opened and closed; the embedding engine over our embedder.
``cognee_writing``: memories as cognee's DataPoints, written and deleted; edges in a time apart from the graph's size.
``cognee_upkeep``: maintenance of the stores.
``cognee_cognify``: raw texts through cognee's extraction, and their removal.
``cognee_llm``: the gate for all calls to the provider of the language model.
``cognee_search``: questions to the graph.
``cognee_audit``: the graph compared with the memories.
``cognee_picture``: the graph as an HTML page.
``lance``: cognee's vector tables, and the syncing of their files.
"""
