"""Puts the lock of the whole into the package, for ``cognee-memory setup --graph``; pyproject.toml has all the rest."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithLock(build_py):
    """Modules, data, and ``worker/data/requirements.lock``. An editable install uses the file beside the package."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            self.copy_file("requirements.lock", str(Path(self.build_lib, "worker", "data", "requirements.lock")))


setup(cmdclass={"build_py": BuildWithLock})
