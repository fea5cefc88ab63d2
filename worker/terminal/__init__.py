"""The command line: what it takes, does and shows."""
