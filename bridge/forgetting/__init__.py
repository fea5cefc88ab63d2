"""Forgetting: what follows from removing memories, and which files still quote them."""
