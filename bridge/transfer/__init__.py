"""Transfer: memories that leave the workspace or arrive: exports, imports, and migrations from earlier versions.

It must not know operations or transactions: it converts between files and memories. In reading order:

``export``: writes an export file.
``export_lines``: the shape of each type of line in an export.
``export_file``: reads and checks an export file.
``lost_memories``: what the team's database lost, kept as an export.
``migration``: converts a text of an earlier version to a memory.
"""
