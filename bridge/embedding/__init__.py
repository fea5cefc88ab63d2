"""Embeddings: what an embedder promises, the local and the remote one, token counts, and bringing the model's files.

It knows neither memories nor a store.
"""
