"""The HTTP server's process: started by the worker on the first connection, stopped when idle.

The routes are in ``worker.http``. In reading order:

``endpoint``: the worker's listening socket, when a process serves it, and that process on the worker's side.
``main``: the server process itself.
``idle_server``: the server in that process, on uvicorn.
"""

READY = b"ready"  # the line on the process's stdout after the model is loaded
