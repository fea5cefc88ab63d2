"""Forgetting: what else a forgetting removes, and which files of the workspace still hold the forgotten texts.

It must not know transactions or the graph's content: ``bridge/operations/forget`` commits the changes and delivers
them. In reading order:

``consequences``: the memories that a forgetting removes, and the decision records that it rebuilds or removes.
``leftovers``: the files that name or quote forgotten memories, and their removal.
"""
