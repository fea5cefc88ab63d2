"""``python -m worker``: the worker in the foreground, or detached by the process that starts it."""

import sys

from .daemon import main

if __name__ == "__main__":
    sys.exit(main())
