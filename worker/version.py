"""The version of the installed distribution: by its folder's name, since importlib.metadata takes a tenth of a worker's
start."""

import sys
from pathlib import Path

_FOLDERS = (found.stem for folder in sys.path for found in Path(folder).glob("cognee_memory-*.dist-info"))
# Otherwise it is run from a checkout that was never installed.
VERSION = next(_FOLDERS, "cognee_memory-0+unknown").removeprefix("cognee_memory-")
