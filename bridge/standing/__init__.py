"""What holds now: which decisions newer ones have replaced.

``statements``: the decisions of a memory that may be replaced, or replace others. ``comparison``: compares new memories
with those that are there by ``bridge/judge``, and stores what it finds. ``bridge/search/standings`` reads it for the
answers.
"""

REPLACED = 0.85
"""From this probability on, the newer statement replaces the older one."""
DISPUTED = 0.5
"""From this one on, the two may contradict each other."""
