"""The table of calls: what a client can ask of a workspace, and the functions that answer.

HTTP routes and the OpenAPI document are renderings of the table. It does not know HTTP. In reading order:

``call``: a row of the table, and the scope in which its function runs.
``table``: the rows.
``queue``: the queue as a whole, with its status, requests to the worker, and its jobs.
``memories``: memories, what is open, topics, disputed pairs and compactions.
``shapes``: the types of the answers.
"""
