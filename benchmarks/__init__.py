"""Benchmarks: programs that print tables of ratios, each measured side by side in one run."""
