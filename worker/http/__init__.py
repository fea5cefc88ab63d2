"""The HTTP interface of the worker: the gate, and the table of calls as routes.

It serves the page, programs and Prometheus on a loopback port. It does not open sockets: ``worker.server`` owns the
process that listens. It does not know how a query is answered or how a job runs. In reading order:

``api``: the ASGI application: a route for each path of the table, behind the gate; queries and new jobs.
``gate``: the access check before every request, the security headers, and the count of requests.
``executor``: the thread pools, the ``Reader`` and the current settings behind all routes.
``bodies``: reading and validating request bodies and query parameters.
``replies``: from calls and envelopes to HTTP replies: statuses, headers, entity tags.
``state``: health, readiness, settings, the team's status, diagnostics and measurements.
``page``: the page and its sign-in.
``tickets``: the tickets that sign a browser in once.
"""
