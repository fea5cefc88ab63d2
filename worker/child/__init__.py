"""The child process: started, watched and asked by the worker; runs operations over the stores."""
