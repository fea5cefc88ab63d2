"""A worker in a team: it drops jobs into the team's database, and follows what the team's pools change.

``team_scheduling``: what a worker does: makes the copy follow, attaches files to jobs, runs the machine's own jobs.
``exchange``: posts the jobs that were dropped here, and writes their records as they come back; the jobs that run on
this machine alone, since they change no memory.
``copy_follower``: makes a copy follow, also for a pool and a gateway.

It holds no lease and commits nothing. It does not know how a job runs (``scheduling/runner``, ``child``), nor how the
database keeps it (``bridge/team``).
"""
