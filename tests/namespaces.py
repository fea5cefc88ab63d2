"""A network of its own for the processes of a machine: one wire to this machine, which can be cut.

Linux only, and only for who may make network namespaces. Unlike a link that a program forwards (``network``), a cut
wire loses packets and tells nobody: that the other side is gone is known from silence alone.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from harness import until

_TRIES = 20


class NoNamespaces(RuntimeError):
    """None can be made here; the message says why."""


class Namespace:
    """``address`` is this machine's, as the processes inside see it; ``network`` is that of both."""

    def __init__(self, number: int) -> None:
        self._name = f"memory-{os.getpid()}-{number}"
        self._wire = f"mem{os.getpid() % 10**7}n{number % 1000}"[:15]
        block = f"10.{200 + os.getpid() % 50}.{number}"
        self.network = f"{block}.0/24"
        self.address = f"{block}.1"
        self._inside = f"{block}.2"

    @property
    def launcher(self) -> tuple[str, ...]:
        """What a command inside begins with. It becomes the command: its process id is the same."""
        return ("ip", "netns", "exec", self._name)

    def create(self) -> None:
        """Make it, with its wire. Raises NoNamespaces."""
        try:
            _ip("netns", "add", self._name)
            _ip("link", "add", self._wire, "type", "veth", "peer", "name", "eth0", "netns", self._name)
            _ip("addr", "add", f"{self.address}/24", "dev", self._wire)
            _ip("-n", self._name, "addr", "add", f"{self._inside}/24", "dev", "eth0")
            for inside in ("lo", "eth0"):
                _ip("-n", self._name, "link", "set", inside, "up")
            self.heal()
        except NoNamespaces:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove both; what is not there is no error."""
        for command in (("link", "del", self._wire), ("netns", "del", self._name)):
            subprocess.run(["ip", *command], check=False, capture_output=True)

    def cut(self) -> None:
        """From now on no packet comes or goes, and nobody is told."""
        _ip("link", "set", self._wire, "down")

    def heal(self) -> None:
        """Packets come and go again."""
        _ip("link", "set", self._wire, "up")
        until(lambda: "linkdown" not in _ip("route", "show", "dev", self._wire) or None, "the wire is up")


def _ip(*arguments: str) -> str:
    done = subprocess.run(["ip", *arguments], check=False, capture_output=True, text=True)
    if done.returncode:
        raise NoNamespaces(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


@contextmanager
def namespace() -> Iterator[Namespace]:
    """A network for the block, where there are also the programs for its certificate. Raises NoNamespaces if none can
    be made."""
    if sys.platform != "linux" or not all(map(shutil.which, ("ip", "openssl"))):
        raise NoNamespaces("They need Linux and the programs ip and openssl.")
    for number in range(_TRIES):
        found = Namespace(number)
        try:
            found.create()
            break
        except NoNamespaces as error:
            if number + 1 == _TRIES or "File exists" not in str(error):
                raise
    try:
        yield found
    finally:
        found.remove()
