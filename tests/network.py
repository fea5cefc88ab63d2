"""A network link between one machine and a server, which a test cuts, holds and heals."""

import contextlib
import socket
import threading

from psycopg.conninfo import conninfo_to_dict

_CHUNK = 65_536


def port_of(dsn: str) -> int:
    return int(str(conninfo_to_dict(dsn)["port"]))


class Link:
    """A TCP proxy to a port of this machine. As a context it is there, and gone when the context is left.

    ``cut``: all connections are ended, and new ones too, so that both sides know.
    ``hold``: bytes are accepted and none are delivered, and nobody is told: a partition. ``heal`` delivers them late.
    """

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._flows = threading.Event()
        self._flows.set()
        self._is_cut = False
        self._hold_at: bytes | None = None
        self.is_held = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def dsn(self, direct: str) -> str:
        """The same database, reached through the link."""
        return direct.replace(f":{self._target[1]}/", f":{self.port}/")

    def __enter__(self) -> "Link":
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self._flows.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def cut(self) -> None:
        """End all connections, and each new one, until ``heal``."""
        with self._lock:
            self._is_cut = True
            for each in self._open:
                _end(each)
            self._open.clear()

    def hold(self) -> None:
        """Deliver nothing from now on, until ``heal``."""
        self._flows.clear()
        self.is_held.set()

    def hold_at(self, phrase: bytes) -> None:
        """Hold as soon as the machine sends these bytes, which are not delivered either."""
        self._hold_at = phrase

    def heal(self) -> None:
        """Deliver again; what was held first."""
        self._hold_at = None
        self.is_held.clear()
        self._is_cut = False
        self._flows.set()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(near,), daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        self._flows.wait()
        if self._is_cut:
            _end(near)
            return
        try:
            far = socket.create_connection(self._target)
        except OSError:
            _end(near)
            return
        for each in (near, far):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._open |= {near, far}
        threading.Thread(target=self._pump, args=(near, far), kwargs={"outward": True}, daemon=True).start()
        self._pump(far, near)

    def _pump(self, source: socket.socket, sink: socket.socket, *, outward: bool = False) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK):
                if outward and self._hold_at is not None and self._hold_at in data:
                    self.hold()
                self._flows.wait()
                sink.sendall(data)
            self._flows.wait()
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
        with self._lock:
            if outward or source not in self._open:
                return
            self._open -= {source, sink}
        for each in (source, sink):
            _end(each)


def _end(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
