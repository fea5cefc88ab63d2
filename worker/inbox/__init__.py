"""The inbox: noticing dropped files, checking them, accepting or rejecting them, and requests to the worker."""
