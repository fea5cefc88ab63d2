"""``python -m worker``: the worker in the foreground, or detached by the process that starts it."""

from bridge.interface.envelope import exit_now

from .daemon import main

if __name__ == "__main__":
    exit_now(main())
