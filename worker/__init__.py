"""The worker: the process that accepts and runs the jobs of one workspace; and its command line, HTTP and MCP servers.

What a job does to the memory is in ``bridge.operations``, and the file protocol in ``jobs``. In reading order, the
modules and packages:

``__main__``: ``python -m worker``.
``cli``: the entry point of ``cognee-memory``.
``daemon``: the worker's process: its lock, its log and its signals.
``app``: the composition root: all parts, and the loop that scans.
``heartbeat``: the heartbeat file.
``processes``: the processes of this program for a workspace, what they use, the running worker, and the current boot.
``stop_signals``: SIGTERM and SIGINT, as calls in a thread.
``connections``: HTTP connections with bounds on their number and on the time for a request's head.
``log``: the log file, its line formats, and the output of the other processes.
``version``: the version of the installed distribution.
``wording``: numbers, times and sizes in sentences.
``hooks``: what other tools call when a session begins or ends, and its installation.
``inbox``: dropped files, accepted or rejected, and requests to the worker.
``scheduling``: jobs from accepted to ended.
``team``: jobs that any worker of a team may run.
``pool``: workers of a host for all workspaces of a team.
``child``: the child process, which runs the operations.
``monitoring``: counters, measurements and metrics.
``server``: the HTTP server's process.
``calls``: the table of what clients can ask, and the functions that answer.
``http``: the HTTP interface.
``gateway``: the gateway of a team.
``mcp``: the MCP server.
``admin``: an operator's requests to the queue, and the overview.
``doctor``: diagnostics of a workspace and a machine.
``documents``: previews as blocks, which Markdown and the terminal show.
``terminal``: the commands of the command line.
"""
