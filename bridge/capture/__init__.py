"""Capture: from the transcripts that an agent's tools keep on this machine to summaries that can be stored.

It reads files of the user and computes; it stores nothing, and knows neither jobs nor cognee. In reading order:

``session``: a session's turns, what a reader reports besides, segments and their summaries, as values.
``readers``: one reader for each tool's transcripts, behind one interface.
``sentences``: what was said as prose, without code and output.
``boundaries``: where a session is cut into segments.
``own_words``: what of a turn the person typed.
``beats``: what was asked, what was done for it, and how the person took it.
``title``, ``summary``: a segment's summary without a language model, made of beats.
``failures``: commands that failed, and what made them work.
``kept_turns``: which turns are kept, without private parts and secrets; which of a grown session are unchanged.
``ignored_files``: which files a capture must not read or name.
``consent``: the tools from which a workspace may capture.
``model_summary``: a segment's summary by a language model, as far as the transcript supports it.
"""
