"""The job protocol: what a job is, which states it passes through, and the files that hold it.

A client can use this package alone. It imports neither ``bridge`` nor ``worker``: it does not know what a job does to
the memory, nor which process runs it. In reading order:

``model``: jobs, attempts and records as immutable values, and their digest.
``kinds``: every kind of job with what is known about it, one row each.
``states``: the states of a job and the outcomes of an attempt.
``errors``: every error code with its reaction and remediation, and the exception ``JobError``.
``diagnostics``: every diagnostic that ``doctor`` and the job ``check`` can report.
``finding``: a reported diagnostic.
``ids``: the form of job ids, and new ones.
``clock``: timestamps as text.
``layout``: the names and paths of all folders and files in a workspace.
``worktree``: the main checkout of a linked git worktree.
``payloads``: the pydantic models of the job file and of each kind's payload.
``spelling``: the nearest known word for a misspelt one.
``check``: validation against those models, with one readable sentence per error.
``parse``: from the bytes of a dropped file to a job, or to the error that rejects it.
``lifecycle``: the state machine, and the pure step from one record to the next.
``steps``: the durable steps in order, what a crash leaves at each, and the fault points of the tests.
``plain_files``: plain files and folders of this user, recognised and read.
``state_file``: the small JSON files of a process, read by one rule.
``files``: atomic, durable and private changes of files and folders on all platforms.
``batch``: several files replaced together with few syncs.
``paths``: files that a job names, opened only inside the workspace.
``lock``: a lock that the kernel releases when its process dies.
``spool``: the operations of the protocol on the job folder.
``scrub``: what remains of an ended job's files after a memory is forgotten.
``subjects``: what a job is about, and the memories that it made, in a line.
``record_cache``: a cached overview of all records, and the lists and counts made from it.
``earlier_files``: the files that waited before the job folder was this user's.
``rejected_files``: the files that could not become jobs.
``heartbeat``: the worker's state, as it writes it to ``worker/heartbeat.json``.
``launch``: starting a worker for a workspace.
``client``: submit, status, wait, cancel and retry.
``schema``: the shapes of the files that a client reads, for JSON Schemas and TypeScript.
"""
