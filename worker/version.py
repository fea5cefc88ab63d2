"""The version of the installed distribution."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("cognee-memory")
except PackageNotFoundError:  # run from a checkout that was never installed
    VERSION = "0+unknown"
