"""The inbox: dropped files, detected, checked, accepted or rejected; and requests to the worker.

It does not run jobs: accepted ones are in ``scheduling.ledger``. In reading order:

``watcher``: file events that wake the worker.
``provenance``: where a file comes from; what came with a repository is refused.
``intake``: dropped files, accepted or rejected.
``own_job``: the jobs that a worker drops by itself.
``redaction``: jobs and rejected files without secrets.
``control``: requests to the worker.
"""
