"""``memory.db``, the truth about memories, with its index and vector files. No other package speaks SQL about memories.

It knows neither cognee nor ranking nor what an operation is.
"""
