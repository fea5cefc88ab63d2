"""The command line: the parsers, the commands and the views of their answers.

A command is a function from parsed arguments to an envelope; a view prints the envelope. The package submits jobs and
queries as any other client does, and does not know how they are carried out. In reading order:

``command_line``: builds parsers, with the help and options that commands share.
``memory_parsers``: the parsers of the memory's commands.
``capture_parsers``: the parser of ``capture``.
``capture_commands``: its commands for consent, for lists of sessions and for forgetting one.
``queue_parsers``: the parsers of the commands of the worker, the queue and the program.
``command_table``: the function and the view of each command.
``commands``: the commands of the memory and the program.
``questions``: the commands ``retrieve``, ``explain`` and ``context``.
``job_commands``: submitting jobs, for ``submit`` and the kinds' commands.
``kinds``: the command and the view of each kind of job.
``import_copy``: copies a file to import into the workspace.
``process_commands``: the commands of the worker's process; finding the workspace.
``queue_commands``: the commands of the queue.
``doctor_command``: the command ``doctor``.
``model_command``: the commands ``model …``.
``team_command``: the commands ``team …`` and their views.
``open_page``: the command ``open``.
``purge``: the command ``purge``, which removes a workspace's memory.
``demo``: the demo.
``completion``: shell completion.
``worktree_note``: the note that a git worktree does not share the memory of its main checkout.
``output``: lines, tables, colours and questions to the user.
``progress``: the progress of a job while a command waits.
``display``: the common part of every answer; the views of the memory and the settings.
``job_views``: the view of a job's result.
``queue_views``: the views of the worker and the queue.
``causes_view``: the view of the causes of failures.
``life_view``: the view of the life of one job.
``doctor_view``: the view of the findings of ``doctor``.
``setup_view``: the progress bar of ``setup``.
``setup_extras``: an extra, such as the knowledge graph, added to this installation.
``watch``: the live view of the queue, and following the log.
"""
