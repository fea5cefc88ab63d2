"""The edge of the scripts: JSON envelope and exit codes, command-line arguments, submitting a job, published shapes."""
