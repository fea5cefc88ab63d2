"""Privacy: keeps secrets out of stored texts, keys out of messages, and texts out of tracebacks and logs.

Pure functions over text. Of our own packages it imports only ``jobs``. In reading order:

``masking``: configured keys removed from messages, and tracebacks without texts.
``log_lines``: a log line as a JSON object with fields about its job.
``redaction``: likely secrets in texts replaced by ``[REDACTED:kind]``.
``secret_kinds``: the known kinds of secrets and their patterns.
``token_forms``: the forms of providers' tokens.
``assigned_secrets``: values behind names such as ``password``.
``random_words``: secrets without a known form or a name, by their randomness.
``evidence``: what tells a secret from what only looks like one.
"""
