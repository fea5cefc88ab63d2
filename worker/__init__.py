"""The process: watching, queueing, running, recovering; and the operators' command line."""
