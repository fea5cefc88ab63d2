"""The HTTP interface of the worker: the gate, the routes and their replies.

It serves the page, programs and Prometheus on a loopback port. It does not open sockets: ``worker.server`` owns the
process that listens. It does not know how a query is answered or how a job runs. In reading order:

``api``: the ASGI application, made of all routes behind the gate.
``gate``: the access check before every request, and the security headers.
``executor``: the thread pools, the ``Reader`` and the current settings behind all routes.
``bodies``: reading and validating request bodies and query parameters.
``replies``: from envelopes to HTTP replies: statuses, headers, entity tags.
``questions``: the routes of queries.
``jobs``: the routes of jobs.
``queue``: the routes of the queue as a whole.
``memories``: the routes of memories, topics and compactions.
``state``: the routes of health, readiness, settings and diagnostics.
``team``: the route of the workspace's team.
``metrics``: the route for Prometheus, and the request counters.
``page``: the routes of the page and its sign-in.
``tickets``: the tickets that sign a browser in once.
``schema``: the types of the replies, for mypy and the OpenAPI document.
"""
