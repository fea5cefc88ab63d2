"""The files in which versions and tasks stand, by their names."""

from __future__ import annotations

import re

_MANIFESTS = re.compile(
    r"(?:^|/)(?:package\.json|pyproject\.toml|setup\.(?:cfg|py)|(?:requirements|constraints)[\w.-]*\.txt|Pipfile|go\.mod"
    r"|Cargo\.toml|Gemfile|[\w-]+\.gemspec|pom\.xml|build\.gradle(?:\.kts)?|composer\.json|mix\.exs|[\w.]+\.csproj"
    r"|(?:[\w-]+\.)?Dockerfile(?:\.[\w-]+)?|(?:docker-)?compose[\w.-]*\.ya?ml|\.(?:nvmrc|tool-versions|travis\.yml)"
    r"|\.(?:node|python|ruby|go|java)-version|\.?mise\.toml|rust-toolchain(?:\.toml)?|tox\.ini|flake\.nix"
    r"|\.github/.*\.ya?ml|[GM]?NU?[Mm]akefile|[Mm]akefile|[\w-]+\.mk|[Jj]ustfile|Taskfile\.ya?ml|Rakefile|[\w-]+\.rake)$"
)


def is_manifest(path: str) -> bool:
    """Whether a file says which versions are used, or which tasks there are."""
    return _MANIFESTS.search(path) is not None
