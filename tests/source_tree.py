"""The files of the project as a reader of a fresh copy sees them, with or without git."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MADE = {
    ".envs",
    ".git",
    ".hypothesis",
    ".import_linter_cache",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".venv",
    "__pycache__",
    "build",
    "dist",
    "results",
}
"""Folders that are made, not written."""


def project_files(folder: Path = ROOT) -> Iterator[Path]:
    """Every file that somebody wrote."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            if path.name not in MADE and not path.name.endswith(".egg-info"):
                yield from project_files(path)
        elif path.is_file():
            yield path
