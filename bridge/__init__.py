"""The memory: its model, stores, queries and operations, and the scripts that clients run.

It must not know the worker. Only ``graph`` imports cognee, so the query path never loads it. In reading order, first
the modules and packages of the memory:

``memory``: a memory as immutable values.
``memory_shapes``: the types of lists of memories, topics and compactions, as published.
``settings``: every setting, read once from all sources.
``user_settings``: writes settings into the user's file or a workspace's.
``git_index``: what git tracks in the workspace's own folders.
``trust``: whether this user created the workspace, or trusts it.
``trust_kept``: the trust of a process that asks often, checked whole when a file that decides it changed.
``text``: a memory as text, and what is embedded and indexed of it.
``anchors``: what of a memory stands in the code of its workspace, and whether it still does.
``privacy``: secrets, keys and texts kept out of what is stored, shown or logged.
``embedding``: the local and the remote embedders.
``reranking``: an optional model that judges the first hits of a question again.
``team``: a team's database in Postgres, and which workspaces belong to one.
``store``: memory.db, with its full-text index and vector files.
``datapoints``: the node models of the knowledge graph.
``graph``: the knowledge graph in cognee, and the delivery of the outbox to it.
``search``: the query path, from arguments to ranked hits, prompt blocks and lists.
``argument_table``: the arguments of the queries, with ranges, defaults and help.
``compaction``: the merge of a topic's memories into a draft of a decision record.
``standing``: which decisions newer ones have replaced, found after a memory is stored.
``forgetting``: the consequences of a forgetting, and the files that quote forgotten memories.
``capture``: transcripts of other tools, and the summaries that are made of them.
``transfer``: exports, imports, and the conversion of memories of earlier versions.
``operations``: the work of each kind of job.
``slices``: long work in slices, between which other jobs may run.
``critical``: code during which the process must not be killed.
``pattern``: regular expressions that are compiled at the first use.
``stand_ins``: imports of packages without what they need for others.
``background``: a value computed in a thread.
``interface``: JSON envelopes, command-line arguments and published shapes of the scripts.

The scripts:

``ingest``: submits a conversation or a summary and prints the job's id.
``retrieve``: answers one query with one JSON object.
``compact``: compacts a topic, or previews that, and waits for the result.
``migrate_summaries``: migrates the memories of earlier versions, and waits for the result.
"""
