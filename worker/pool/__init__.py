"""A pool: the workers of a host that run the jobs of all workspaces of a team.

``copies``: the copies of workspaces in the pool's folder, each used by one worker at a time.
``team_jobs``: the lease that a worker holds, renewed while jobs run, and its jobs as the runner needs them.
``pool_worker``: takes leases one after another, and runs what is due, in a child process of its own; counters.
``running``: the workers of one process, the renewal of their leases, which copies have to follow; its folder's lock,
its signals and its end.

It reaches the database itself, and takes no dropped jobs: those of a workspace's own machines come over the database,
with what they need of the files there.
"""
