"""Where VS Code and its relatives keep what belongs to a workspace, and which folder that workspace is.

``<user folder>/workspaceStorage/<id>`` belongs to one workspace. On a desktop, ``workspace.json`` in it names the
folder as a URI. A server that people use in the browser writes none there, but the id is a hash of the URI, so that it
shows which folder it is. The URI begins with the address under which people open the server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from ..session import Findings
from . import json_records, transcript_file
from .json_records import at
from .reader import Home

_PEEK = 2**20
_ADDRESS = re.compile(rb'"authority":\s*"([\w.\-:\[\]]{1,200})"')
_USUAL_ADDRESSES = ("localhost:8080", "127.0.0.1:8080", "localhost:8000", "127.0.0.1:8000")
_DRIVE = re.compile(r"/([A-Za-z]:)(?=/|\Z)")


@dataclass(frozen=True, slots=True)
class UserFolder:
    """A user folder of a product. ``is_server`` is whether the product runs on this machine for a browser or editor
    elsewhere, so that what it calls remote is here."""

    path: Path
    is_server: bool = False


def desktop_folders(home: Home, products: tuple[str, ...]) -> list[UserFolder]:
    """The user folders of products on the desktop, whether or not they exist."""
    if home.platform == "darwin":
        base = home.folder / "Library" / "Application Support"
    elif home.platform == "win32":
        base = home.moved("APPDATA", "AppData", "Roaming")
    else:
        base = home.moved("XDG_CONFIG_HOME", ".config")
    return [UserFolder(base / product / "User") for product in products]


def storages(user: UserFolder, workspace: Path) -> Iterator[tuple[Path, str]]:
    """The folders of the workspaces that are this folder or inside of it, and the path of each.

    A workspace of several folders is not among them: its sessions belong to none of them.
    """
    places = transcript_file.places_of(workspace)
    unnamed = []
    for storage in transcript_file.folders(user.path / "workspaceStorage"):
        try:
            data = transcript_file.read_start(storage / "workspace.json", user.path, 64 * 1024)
        except OSError:
            unnamed.append(storage)
            continue
        record = json_records.parsed(data, Findings())
        path = local_path(at(record, "folder"), user.is_server)
        if path is not None and transcript_file.is_inside(path, places):
            yield storage, path
    if user.is_server:
        yield from _by_id(user, unnamed, places)


def local_path(uri: Any, is_server: bool = False) -> str | None:
    """The path on this machine that a URI names, given as text or as VS Code writes it in JSON; None if it is of
    another machine, or is no file."""
    if isinstance(uri, str):
        try:
            parts = urlsplit(uri)
        except ValueError:
            return None
        scheme, authority, path = parts.scheme, parts.netloc, unquote(parts.path)
    elif isinstance(uri, dict):
        scheme, authority, path = str(uri.get("scheme")), uri.get("authority") or "", str(uri.get("path") or "")
    else:
        return None
    is_here = (scheme == "file" and not authority) or (scheme == "vscode-remote" and is_server)
    if not path or not is_here:
        return None
    return path[1:] if _DRIVE.match(path) else path


def _by_id(user: UserFolder, storages: list[Path], places: list[Path]) -> Iterator[tuple[Path, str]]:
    """The storages whose id is the hash of one of the places, under an address that a transcript mentions, or a usual
    one."""
    addresses = dict.fromkeys(_USUAL_ADDRESSES)
    for storage in storages:
        for path in transcript_file.files(storage / "chatSessions", ".jsonl"):
            start = transcript_file.peek(path, user.path, _PEEK)
            addresses.update(dict.fromkeys(found.decode() for found in _ADDRESS.findall(start)))
    ids = {
        workspace_id(f"vscode-remote://{address}{quote(place.as_posix(), safe='/')}"): str(place)
        for place in places
        for address in addresses
    }
    for storage in storages:
        if storage.name in ids:
            yield storage, ids[storage.name]


def workspace_id(uri: str) -> str:
    """The id that VS Code in a browser gives to the workspace of a folder: a hash of 32 bits, signed, in hex."""
    value = 149417
    units = uri.encode("utf-16-le", "surrogatepass")
    for index in range(0, len(units), 2):
        value = (value * 31 + int.from_bytes(units[index : index + 2], "little")) & 0xFFFFFFFF
    return format(value - 2**32 if value >= 2**31 else value, "x")
