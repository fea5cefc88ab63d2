"""The child process: runs the operations over the stores, one request at a time, for the worker.

It does not know states and records of jobs. In reading order:

``protocol``: the messages between the worker and its child.
``supervisor``: the worker's side: at most one child, and the requests to it.
``process``: one child process: its pipes, its timeout, and the thread that watches it.
``main``: the child's side: requests read, run and answered.
``pool_main``: the child's side in a pool, over the copies of many workspaces.
``parent_death``: the parent-death guard, and the child's lower priority.
"""
