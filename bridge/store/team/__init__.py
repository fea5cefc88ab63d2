"""The store of a team: Postgres has the truth, and memory.db of this machine is a replica of it.

A workspace's truth is a set of rows, each with the number of the change that wrote it last. That is the feed, too: a
replica asks for the rows above the number up to which it has applied changes, and has then the same rows. A deleted
row stays as a row without a value. So the feed needs no history: a new replica reads what one that was away reads.

``shared_tables``: which tables of memory.db are replicated, and what every copy requires of a row.
``recorder``: notes which of their rows a transaction changes.
``position``: up to which change of the team memory.db has its rows, and those that this copy could not apply.
``row_checks``: checks rows of another machine, before all others get them.
``replica``: applies rows to memory.db; in a file while they are applied.
``team_store``: the store: it applies what it lacks, and commits each change in Postgres before in memory.db.

The other side, in Postgres, is ``bridge/team``.
"""
