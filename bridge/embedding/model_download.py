"""Downloads of pinned files: resumed after an interruption, and verified.

The incomplete file is ``<name>.part`` beside its target, so that a later run can resume it. A package's wheel is
fetched with the user's pip configuration: pip resolves its address, so that the user's index, mirror, find-links and
certificate apply. If that fails, ``pip download`` is run, which also supports keyrings, client certificates and trusted
hosts.
"""

from __future__ import annotations

import importlib.util
import json
import ssl
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from jobs import files

from .model_files import File, Package

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 10.0
READ_TIMEOUT_SECONDS = 60.0  # a server that sends nothing for so long counts as disconnected
LOCATE_TIMEOUT_SECONDS = 120
PIP_DOWNLOAD_SECONDS = 3600

# pip has no public command that resolves an address without downloading: before version 25 a dry run fetches the whole
# wheel. If these internals change, this fails and `pip download` follows.
_LOCATE_SCRIPT = """
import json, sys
from pip._internal.commands import create_command
command = create_command("download")
with command.main_context():
    options, _ = command.parse_args(["--no-deps", "--retries", "1", sys.argv[1]])
    finder = command._build_package_finder(options, command.get_default_session(options))
    links = [found.link for found in finder.find_all_candidates(sys.argv[1])]
    urls = [link.url_without_fragment for link in links if link.filename == sys.argv[2]]
    print(json.dumps({"url": urls[0] if urls else "", "certificates": options.cert or ""}))
"""


class DownloadFailed(Exception):
    """The download failed; the text says why, for a person."""


def download(
    url: str,
    target: Path,
    wanted: File,
    report: Callable[[int], None],
    *,
    headers: Mapping[str, str] | None = None,
    tls: ssl.SSLContext | None = None,
) -> None:
    """Download the file ``wanted`` to ``target``, unless it exists there. ``report`` gets the number of bytes so far.

    Raises DownloadFailed, and OSError for a failure of the disk.
    """
    import httpx

    if wanted.matches(target):
        return
    part = target.with_name(f"{target.name}.part")
    timeout = httpx.Timeout(READ_TIMEOUT_SECONDS, connect=CONNECT_SECONDS)
    with httpx.Client(timeout=timeout, follow_redirects=True, verify=tls or True, headers=headers) as client:
        while True:
            resumed = _size(part) > 0
            _complete(client, url, part, wanted.size, report)
            if wanted.matches(part):
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
        resumes = answer.status_code == 206 and answer.headers.get("Content-Range", "").startswith(f"bytes {start}-")
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


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _host(url: str) -> str:
    """Only the server's name, since an address may contain a password."""
    return urlsplit(url).hostname or "the address"


def fetch(folder: Path, package: Package, report: Callable[[int], None]) -> Path:
    """The path of the package's wheel: downloaded into ``folder``, or its own place if the registry is a local folder.

    ``report`` gets the number of bytes so far. Raises DownloadFailed, and OSError for a failure of the disk.
    """
    if importlib.util.find_spec("pip") is None:
        raise DownloadFailed("pip is not installed in this environment")
    wheel = package.build().wheel
    target = folder / wheel.name
    try:
        url, certificates = _locate(folder, package)
        if urlsplit(url).scheme == "file":
            return Path(url2pathname(urlsplit(url).path))
        tls = ssl.create_default_context(cafile=certificates) if certificates else None
        download(url, target, wheel, report, tls=tls)
    except DownloadFailed as failure:
        report(0)
        _download_with_pip(folder, package, first_failure=failure)
    return target


def _locate(folder: Path, package: Package) -> tuple[str, str]:
    """The wheel's URL, and the file of trusted certificates, if one is configured. Raises DownloadFailed."""
    output = _run(["-c", _LOCATE_SCRIPT, package.name, package.build().wheel.name], folder, LOCATE_TIMEOUT_SECONDS)
    try:
        answer = json.loads(output.strip().rpartition("\n")[2])
        url, certificates = str(answer["url"]), str(answer["certificates"])
    except (ValueError, KeyError, TypeError):
        raise DownloadFailed("pip gave no address") from None
    if not url:
        raise DownloadFailed(f"pip knows no {package.build().wheel.name}")
    return url, certificates


def _download_with_pip(folder: Path, package: Package, first_failure: DownloadFailed) -> None:
    wanted = f"{package.name}=={package.version}"
    options = ["--no-deps", "--only-binary", ":all:", "--retries", "1", "--dest", str(folder)]
    try:
        _run(["-m", "pip", "download", *options, wanted], folder, PIP_DOWNLOAD_SECONDS)
    except DownloadFailed as failure:
        raise DownloadFailed(f"{first_failure}; then {failure}") from failure
    if not (folder / package.build().wheel.name).is_file():
        raise DownloadFailed(f"{first_failure}; then pip brought another file")


def _run(arguments: list[str], folder: Path, seconds: float) -> str:
    """The output of a command of our own interpreter, which does not import from its working folder. Raises
    DownloadFailed."""
    command = [sys.executable, "-P", *arguments]
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise DownloadFailed(f"pip did not end within {seconds:.0f} s") from None
    if done.returncode != 0:
        complaint = done.stderr.strip().rpartition("\n")[2] or f"exit code {done.returncode}"
        raise DownloadFailed(f"pip failed: {complaint[:200]}")
    return done.stdout
