"""Metrics: counters of a process, what is measured on request, exposition, readiness."""
