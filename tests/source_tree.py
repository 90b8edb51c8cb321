"""The files of the project as a reader of a fresh copy sees them, with or without git."""

import ast
from collections.abc import Iterator
from functools import cache
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


def has_test(identifier: str) -> bool:
    """Whether `file::test_x` or `file::TestY::test_x` is there; the brackets of a parameter are not looked into."""
    file, _, name = identifier.partition("::")
    return name.partition("[")[0] in _tests_in(ROOT / file)


@cache
def _tests_in(file: Path) -> frozenset[str]:
    if not file.is_file():
        return frozenset()
    names: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            names.update(f"{node.name}::{name}" for name in _functions(node.body))
        else:
            names.update(_functions([node]))
    return frozenset(names)


def _functions(body: list[ast.stmt]) -> list[str]:
    functions = [node for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [function.name for function in functions if function.name.startswith("test_")]
