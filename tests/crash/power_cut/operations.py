"""One change of the files, as the recorder saw it and the model takes it up."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "create", "truncate", "extend", "write", "rename", "unlink", "folder", "link", "sync", "sync all", "mark"
]


class NotModelled(Exception):
    """A process changed its files in a way that the recorder or the model does not know."""


@dataclass(frozen=True, slots=True)
class Operation:
    """``path`` is a mark's text as well; ``inode`` is the kernel's number, which it uses again; ``offset`` is the
    length where one is set."""

    kind: Kind
    process: int
    path: str = ""
    target: str = ""
    inode: int = 0
    offset: int = 0
    data: bytes = b""
