"""The team's gateway: HTTPS for machines that have a token and no address of the database.

It knows who asks, and lets a person reach their own workspaces and those of their groups. It holds no memories itself,
but for copies of large workspaces, if it was given a folder for them.

``serving``: the process: certificates, address, end.
``connections``: how many there may be, and for how long one may say nothing; how often the log says the same.
``app``: the routes, what each request goes through, and the line of the audit about it.
``access``: the person behind a token, what they may see, and how much they may ask in a minute.
``reading``: answers about large workspaces, from copies on its host.
``transfers``: rows on their way to and from a client, by way of temporary files.
``polls``: the machines that wait, looked up together, and the changes that wake them.
``gateway_metrics``: counters for Prometheus.
``openapi``: the published description of the routes.
"""
