"""The knowledge graph: cognee, its files, its language model, and delivering the outbox to it.

Its modules ``cognee_*`` are the only ones that import cognee.
"""
