"""Monitoring: counters, measurements on request, their Prometheus text, and readiness.

It only reads the stores and the job folder, except for the counters' own file. In reading order:

``counters``: the counters and histograms of a process, and their file.
``measurements``: the values of all metrics, read on request.
``metrics``: the table of metrics, and the text of a scrape.
``readiness``: whether the worker can do its work now.
"""
