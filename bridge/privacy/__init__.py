"""What must not leave: secrets in texts, keys in messages, texts in tracebacks; and the fields of a log line.

Pure functions over text. It imports nothing else of ours but ``jobs``.
"""
