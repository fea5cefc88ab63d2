"""The command line called in the test's process: the answer of a process of its own, without what its start costs."""

import io
import os
import subprocess
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

import contract
from harness import Place

from bridge.interface import envelope
from worker.cli import main


class InProcess(Place):
    """A place whose ``cli`` starts no process; ``python`` does."""

    def cli(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        root = self.workspace.root
        return self.within(root, *arguments, "--workspace", str(root), **options)

    def within(self, folder: Path, *arguments: str, input: str = "") -> subprocess.CompletedProcess[str]:
        """Run ``cognee-memory`` from a folder, whatever workspace that is in."""
        given, out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(3))
        given.buffer.write(input.encode())
        given.seek(0)
        with ExitStack() as stack:
            stack.enter_context(mock.patch.dict(os.environ, self.environment, clear=True))
            stack.enter_context(mock.patch.multiple(envelope, claim_stdout=lambda: None, write=out.buffer.write))
            stack.enter_context(mock.patch("sys.stdin", given))
            for context in (chdir(folder), redirect_stdout(out), redirect_stderr(err)):
                stack.enter_context(context)
            try:
                status = main(arguments)
            except SystemExit as ended:
                status = int(ended.code or 0)
        for stream in (out, err):
            stream.seek(0)
        done = subprocess.CompletedProcess(arguments, status, out.read(), err.read())
        assert contract.problems_in(done.stdout) == []
        return done

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """The exit status of ``cognee-memory``, and what it printed to stdout and to stderr."""
        done = self.cli(*arguments)
        return done.returncode, done.stdout, done.stderr
