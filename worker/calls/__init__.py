"""The table of calls: what a client can ask of a workspace, and the functions that answer.

HTTP routes and the OpenAPI document are renderings of the table. It does not know HTTP. In reading order:

``call``: a row of the table, and the scope in which its function runs.
``table``: the rows.
``queue``: the queue as a whole, requests to the worker, and its jobs.
``memories``: memories, what is open, topics, disputed pairs and compactions.
``queue_state``: the status of a workspace, computed again where it has changed.
``shapes``: the types of the answers.
"""
