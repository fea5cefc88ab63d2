"""The language of jobs: what a job is, what may happen to it, where it lies.

Any asker can use this package alone: it imports neither ``bridge`` nor ``worker``.
"""
