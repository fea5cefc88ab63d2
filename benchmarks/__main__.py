"""``python -m benchmarks NAME [--help]``: one of four programs."""

from __future__ import annotations

import sys

PROGRAMS = {
    "beside": "speed, start, memory and energy, also beside another checkout",
    "moments": "notes for a prompt, replayed on foreign sessions: how often shown, how often right",
    "quality": "how well questions find their memories: own and published sets, a gate",
    "soak": "thousands of jobs, or an hour of a team under faults: growth and loss",
}


def main() -> int:
    """Returns the exit status: of the program, or 2 without one."""
    name, given = (sys.argv[1:] or ["--help"])[0], sys.argv[2:]
    if name not in PROGRAMS:
        print("python -m benchmarks NAME [--help]\n")
        print("\n".join(f"  {each:<10}{about}" for each, about in PROGRAMS.items()))
        return 0 if name in ("-h", "--help") else 2
    from importlib import import_module

    return import_module(f".{name}", "benchmarks").main(given) or 0


if __name__ == "__main__":
    sys.exit(main())
