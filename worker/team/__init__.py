"""A worker in a team: the jobs of a shared workspace are in the team's database, and any worker may run them.

``team_scheduling``: the parts, put together: how a worker's jobs come to run in a team.
``team_jobs``: the jobs of the workspace whose lease this worker holds, as the runner needs them.
``held_lease``: the lease itself, renewed while jobs run.
``exchange``: posts the jobs that were dropped here, and writes their records as they come back.
``file_texts``: the texts of files that a job names, in their place, before it is posted.
``wakeups``: wakes this worker when another machine has changed something, and the others when this one has.
``team_work``: takes leases, renews them, and runs what is due; makes the copy on this machine follow the team's.
``copy_follower``: makes a copy follow, also for a pool and a gateway.

It does not know how a job runs (``scheduling/runner``, ``child``), nor how the database keeps it (``bridge/team``).
"""
