"""Downloads one file: resumes interrupted downloads and verifies the checksum.

The caller gives the address, size and checksum. The incomplete file is ``<name>.part`` beside its target, so that a
later run can resume it.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from jobs import files

from . import model_files

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 10.0
READ_TIMEOUT_SECONDS = 60.0  # a server that sends nothing for so long counts as disconnected


class DownloadFailed(Exception):
    """The download failed; the text says why, for a person."""


def download(
    url: str,
    target: Path,
    wanted: model_files.File,
    report: Callable[[int], None],
    *,
    headers: Mapping[str, str] | None = None,
    tls: ssl.SSLContext | None = None,
) -> None:
    """Download the file ``wanted`` to ``target``, unless it exists there. ``report`` gets the number of bytes so far.

    Raises DownloadFailed, and OSError for a failure of the disk.
    """
    import httpx

    if _size(target) == wanted.size and model_files.digest(target) == wanted.sha256:
        return
    part = target.with_name(f"{target.name}.part")
    timeout = httpx.Timeout(READ_TIMEOUT_SECONDS, connect=CONNECT_SECONDS)
    with httpx.Client(timeout=timeout, follow_redirects=True, verify=tls or True, headers=headers) as client:
        while True:
            resumed = _size(part) > 0
            _complete(client, url, part, wanted.size, report)
            if _size(part) == wanted.size and model_files.digest(part) == wanted.sha256:
                files.rename(part, target)
                return
            part.unlink()
            if (
                not resumed
            ):  # a resumed part may come from a bad earlier run, so it is downloaded once more from the start
                raise DownloadFailed(f"the {wanted.name} that it sent does not have the expected checksum")


def _complete(client: httpx.Client, url: str, part: Path, size: int, report: Callable[[int], None]) -> None:
    """Request the missing bytes until the part has its size; gives up when an answer adds nothing."""
    import httpx

    while (before := _size(part)) < size:
        try:
            _append(client, url, part, size, report)
            reason = "the answer ended early"
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = str(error) or type(error).__name__
        if _size(part) <= before:
            raise DownloadFailed(f"{_host(url)}: {reason}")


def _append(client: httpx.Client, url: str, part: Path, size: int, report: Callable[[int], None]) -> None:
    start = _size(part)
    # A range counts the bytes as sent, so compressed answers could not be joined.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    with client.stream("GET", url, headers=headers) as answer:
        if answer.status_code == 416:
            part.unlink(missing_ok=True)
        if answer.status_code not in (200, 206):
            raise DownloadFailed(f"{_host(url)} answered {answer.status_code}")
        resumes = answer.status_code == 206 and _starts_at(answer.headers.get("Content-Range", ""), start)
        if answer.status_code == 206 and not resumes:
            part.unlink(missing_ok=True)
            raise DownloadFailed(f"{_host(url)} sent another range than was asked for")
        done = start if resumes else 0
        with part.open("ab" if resumes else "wb") as file:
            for chunk in answer.iter_raw():
                file.write(chunk)
                done += len(chunk)
                report(min(done, size))
                if done > size:
                    return


def _starts_at(content_range: str, start: int) -> bool:
    match = re.match(r"bytes (\d+)-", content_range)
    return match is not None and int(match.group(1)) == start


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _host(url: str) -> str:
    """Only the server's name, since an address may contain a password."""
    from urllib.parse import urlsplit

    return urlsplit(url).hostname or "the address"
