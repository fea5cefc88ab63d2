"""On PYTHONPATH it stands before the real package: a program that finds it cannot embed, so others answered for it."""

from jobs.errors import JobError

raise JobError("MODEL_CORRUPT", "This process is to have no embedding model.")
