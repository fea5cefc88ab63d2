"""The diagnostics of a workspace and a machine: checks, safe fixes and the support archive.

The ``Facts`` of a module read the state when they are made, and the functions of ``CHECKS`` judge it. The package
does not open the stores of cognee and starts no job; the job ``check`` reads the stores completely. What a diagnostic
means is in ``jobs.diagnostics``. In reading order:

``examination``: runs all checks and orders the findings.
``installation``: checks Python, packages, SQLite and the configuration folder.
``settings``: checks the settings, those that have no effect, and the providers.
``team``: checks a team, and how far its copies are.
``capture``: checks what is captured, and the hooks in other tools.
``workspace``: checks the owner, permissions and types of the workspace's files.
``machine``: checks disk, mount, limits and clock.
``worker``: checks the worker's lock, heartbeat, processes and address.
``queue``: checks waiting and failed jobs, and the consistency of the job folder.
``stores``: checks memory.db, its index, the graph and the embedding model.
``entries``: reads files and folders for the checks.
``fixes``: applies the safe fixes that findings name.
``bundle``: writes the support archive, without personal data.
"""
