"""``memory.db``, the truth about memories, with its index and vector files. No other package speaks SQL about memories.

``protocol`` is what the rest of the program needs of a store; ``memory_store`` meets it. A write is a ``change``, which
``change_writer`` turns into SQL; ``memories`` reads. It knows neither cognee nor ranking nor what an operation is.
"""
