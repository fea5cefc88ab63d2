"""The team's database, in Postgres: what all machines of a team share. It knows nothing of memory.db or of cognee.

``address``: where the database is, and what is required of the connection.
``membership``: which workspaces of this user belong to a team.
``protocol``: the table of calls: what a machine asks of its team, through a gateway, and who has its database.
``fields``: the bounds of a call's fields, and records and jobs as JSON has them.
``opening``: reaches the team that the settings name.
``gateway_team``: the team, reached through a gateway.
``wire``: requests and streams of rows, as HTTP has them.
``people``: persons, their groups and their tokens.
``postgres_team``: the team's database, reached directly.
``server``: connections, transactions and errors.
``server_clock``: the time by which shared jobs and memories are timed.
``schema``: the tables, and how they are upgraded.
``unreached``: why the team is not reached, with what mends it.
``remote_answers``: questions about a large workspace, which the gateway answers.
``retention``: what the database need not keep for ever.
``rows``: a workspace's memories as rows: the feed that replicas follow, and how a change is committed.
``copies``: how far each machine's copy is, and what an operator sees of a workspace.
``copy_age``: how old this machine's copy is, in a file that a question reads.
``gap``: what a copy lacks, as the team answers it.
``missing``: the same, asked within a time that a question may take.
``last_try``: why the team was not reached at the last try, in a file that an answer reads.
``leases``: which worker runs a workspace's jobs.
``notices``: sent after a change, so that other machines look at once.
``attachments``: what a job needs of the files of its machine, in parts; receipts of what jobs did.
``shared_jobs``: the jobs of a workspace: posted by any machine, run by the holder of the lease, reported back.
"""

import sys

sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # its command line: a third of a client's start
