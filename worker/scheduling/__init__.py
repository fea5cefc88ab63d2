"""Scheduling: jobs from accepted to ended, with their records, queue, attempts, recovery and retention.

It does not know what a job does to the memory: the child process runs it. In reading order:

``ledger``: the live records in memory and on disk, and every change of them.
``waiting``: the waiting jobs in the order in which they start.
``scheduling``: the way by which a worker's jobs come to run; the one of a machine alone.
``huey_queue``: the Huey queue of due jobs, and its consumer thread.
``runner``: attempts: from a queue message to an outcome in the record.
``graph_upkeep``: when the knowledge graph is brought up to date without a job.
``runnable_jobs``: what the runner asks of the jobs that it runs; those of this machine's folder.
``tasks``: the requests to the child, made from the jobs' copies.
``recovery``: repairs of the job folder after a crash, and while the worker runs.
``retention``: ended jobs and quarantined files removed after their time.
"""
