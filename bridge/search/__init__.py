"""Search: the query path from arguments through candidates, relevance and ranking to the answer.

It reads ``memory.db`` and the vector files and never changes them. It imports neither cognee nor ``worker``: it does
not know the knowledge graph, nor which process runs it. In reading order:

``loopback``: the HTTP of our own server, as a client on this machine speaks it.
``query_client``: a query sent to the running worker, or answered in this process.
``waiting_jobs``: the warning that jobs wait whose memories no answer can find yet.
``reader``: the answers to ``retrieve``, ``explain`` and ``context``, with the embedding model kept between queries.
``following``: whether a team's copy follows the team, before it is read.
``asked_time``: the time that a query names, for the ranking and the answer.
``period``: the dates of a time phrase.
``question``: a query's checked arguments.
``explain_request``: the checked arguments of a request to explain memories.
``bounded_cache``: a cache of a bounded size.
``catalogue``: the columns of all memories that filtering and ranking need, and the filters.
``coarse_vectors``: an 8-bit copy of vectors, for a first comparison with a known error.
``known_memories``: the memories that queries have read, with their texts to show.
``index_cache``: the catalogue, what queries have read and the mapped vector files, kept between queries.
``standings``: which statements were replaced or are disputed, in one state of the store.
``rests``: whether a text rests on a decision that was replaced.
``snapshot``: search over one state of the store.
``lexical``: the lexical score from the full-text index.
``spelling``: the misspelt words of a question, and the words of the memories that are meant.
``estimate``: estimated relevance with its error, and the choice of what is computed exactly.
``ranking``: the score's formula and its weights.
``fit``: which hits are weak, and what follows them.
``standing_effects``: what a standing does to a score, and what an answer says of it.
``second_stage``: the first hits judged again by a reranker, if one is configured.
``failures``: failures among the candidates of a question.
``retrieval``: from a question to ranked hits, and the answer of ``retrieve``.
``best_passages``: the passages of a memory that match a query best.
``hits``: hits in the retrieval contract's shape, packed into a token budget.
``explanation``: the parts of a memory's score, and the answer of ``explain``.
``context``: a block for a prompt under a token budget, and the answer of ``context``.
``prompt_note``: a memory as a quoted note in that block.
``session_start``: the notes with which a session begins.
``session_line``: the line of one session in them.
``about_file``: the memories that name a file, and what was decided in them.
``moment``: the notes for one prompt, file or failure, if any fits well.
``model_comparison``: how well models find the memories that a user marked.
``listing``: lists of memories and topics, and single memories.
``review``: the pairs of decisions that may contradict each other, for a person who settles them.
``open_items``: open questions and next steps that no later memory has closed.
"""
