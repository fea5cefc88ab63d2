"""The model's full weights in the layout of a hub's cache, where an unmodified cognee's fastembed looks for them."""

import shutil
from pathlib import Path

# The model is looked up under the second name, the tokenizer under the first.
REPOSITORIES = ("sentence-transformers/all-MiniLM-L6-v2", "qdrant/all-MiniLM-L6-v2-onnx")
REVISION = "0" * 40  # any name works


def lay_out(full_weights: Path, folder: Path) -> Path:
    """Make ``folder`` the value of HF_HUB_CACHE with which the model is found offline, and return it."""
    for repository in REPOSITORIES:
        place = folder / f"models--{repository.replace('/', '--')}"
        snapshot = place / "snapshots" / REVISION
        snapshot.mkdir(parents=True)
        for path in full_weights.iterdir():
            if path.is_file():
                try:
                    # onnxruntime does not follow symbolic links to other folders.
                    (snapshot / path.name).hardlink_to(path)
                except OSError:  # another disk
                    shutil.copyfile(path, snapshot / path.name)
        (place / "refs").mkdir()
        (place / "refs" / "main").write_text(REVISION)
    return folder
