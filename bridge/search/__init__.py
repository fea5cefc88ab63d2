"""Queries: from arguments over candidates, relevance and ranking to hits, explanations, prompt blocks and lists.

It reads the store and never changes it; nothing here imports cognee.
"""
