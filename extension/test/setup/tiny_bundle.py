"""Writes a bundle as the extension carries one: a tiny program without the memory, and one dependency with its hash.

python tiny_bundle.py FOLDER VERSION
"""

import base64
import hashlib
import json
import sys
import zipfile
from pathlib import Path

PROGRAM = """
import os, sys
import tiny_dependency


def main():
    if "--version" in sys.argv:
        print("version: {version}")
    elif sys.argv[1:] == ["setup", "--graph"]:
        if os.environ.get("TINY_GRAPH") == "offline":
            print("ConnectTimeoutError: the index was not reached")
            sys.exit(1)
        if os.environ.get("TINY_GRAPH") == "endless":
            print("endless", flush=True)
            sys.stdin = os.fdopen(os.pipe()[0])
            sys.stdin.read()
"""


def wheel(folder, name, version, module, source, entry_points=""):
    """Write a wheel with one module."""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{module}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if entry_points:
        files[f"{info}/entry_points.txt"] = entry_points
    rows = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(text.encode())}")
    rows.append(f"{info}/RECORD,,")
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name_inside, text in files.items():
            archive.writestr(name_inside, text)
        archive.writestr(f"{info}/RECORD", "\n".join(rows) + "\n")
    return path


def main(folder, version):
    """Write the bundle."""
    folder.mkdir(parents=True, exist_ok=True)
    entry = "[console_scripts]\ncognee-memory = tiny_memory:main\n"
    program = wheel(folder, "tiny_memory", version, "tiny_memory", PROGRAM.format(version=version), entry)
    dependency = wheel(folder, "tiny_dependency", "1.0", "tiny_dependency", "")
    digest = hashlib.sha256(dependency.read_bytes()).hexdigest()
    lock = folder / "requirements-core.lock"
    lock.write_text(f"tiny-dependency @ {dependency.resolve().as_uri()} --hash=sha256:{digest}\n")
    build = hashlib.sha256(program.read_bytes()).hexdigest()
    bundle = {"build": build, "version": version, "wheel": program.name, "lock": lock.name, "packages": 1}
    (folder / "bundle.json").write_text(json.dumps({**bundle, "modules": ["tiny_dependency"]}))


main(Path(sys.argv[1]), sys.argv[2])
