"""The HTTP server process: started by the worker on the first connection, stopped when idle."""
