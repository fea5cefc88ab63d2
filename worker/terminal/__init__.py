"""The command line: for each group of commands a module with its declarations, its functions and its views.

A command is a function from parsed arguments to an envelope; a view prints the envelope. ``worker.cli`` has the table
of commands, and imports the module of the one that runs. The package submits jobs and queries as any other client does,
and does not know how they are carried out. In reading order:

``command_line``: declares commands and builds their parsers, with the help and options that they share.
``output``: lines, tables, colours and questions to the user; the answer of a command, and an error with its remedy.
``process_commands``: the workspace of a command; stopping its worker.
``program``: ``demo``, ``setup``, ``settings``, ``trust``, ``completion`` and ``mcp``.
``questions``: ``retrieve``, ``explain`` and ``context``.
``hits``: prints the memories that a question found.
``memories``: ``memories``, ``topics``, ``history`` and ``export``.
``job_commands``: ``submit``, and what the kinds' commands have in common.
``kinds``: the command and the view of each kind of job.
``capture_commands``: ``capture`` with its subcommands.
``worker``: ``worker`` and ``status``.
``jobs``: the subcommands of ``jobs`` that look at jobs.
``job_requests``: the subcommands of ``jobs`` that make a request to the worker.
``job_table``: the filters of jobs, their table, the counts of their states, the causes of failures.
``job_views``: the views of a job's result, and of its life.
``watch``: the live view of the queue, and following the log.
``progress``: how far a job is, or the fetching of a model, while a command waits.
``doctor_command``: ``doctor``.
``model_command``: ``model`` with its subcommands.
``team_command``: ``team``, ``serve`` and ``pool``.
``open_page``: ``open``.
``purge``: ``purge``, which removes a workspace's memory.
``demo``: the demo.
``setup_extras``: an extra, such as the knowledge graph, added to this installation.
``completion``: shell completion.
``worktree_note``: the note that a git worktree does not share the memory of its main checkout.
"""
