"""The kinds of jobs on the command line: one module for each kind, with its command and the view of its result."""
