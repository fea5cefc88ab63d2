"""Power cuts: what real processes did to their files is recorded, and every state in which the disk may stand
after a cut is laid out anew and recovered.

``recorder.c`` and ``recording`` see what was done; ``model`` says what survives; ``cuts`` chooses moments and
survivors; ``spool_story``, ``store_story`` and ``graph_story`` are what is recorded, ``spool_promises`` and the latter
two what has to hold afterwards.
"""
