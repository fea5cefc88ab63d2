"""What an operator asks of the queue, for the command line and HTTP alike."""
