"""Administration: an operator's requests to the queue and the worker, for the command line and HTTP.

It does not know how answers are printed or sent. In reading order:

``shapes``: the types of the answers.
``selection``: which jobs a request selects.
``job_details``: one job with its copy and its progress; a new one's defaults; what the jobs of a page are about.
``requests``: cancel, retry, dismiss, and requests to the worker, with their outcome.
``models``: the embedding models, and how far a change to another one is.
``team``: a workspace's team: share, join, leave, and how far its copies are.
``people``: persons, groups and tokens of a team's gateway.
``overview``: the overview of a workspace, with advice.
"""
