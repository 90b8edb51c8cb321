"""What other programs make of notebooks: nbformat judges them, nbclient and papermill run them."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from nbformat.validator import iter_validate

from tests.fakes.drive import plain_environment
from tests.leftovers import COOKIE
from tests.source_tree import ROOT

Notebook = dict[str, Any]

TERMINAL = {"COLUMNS": "80", "LINES": "24"}
"""Kernels lay out text by these, so all have the same."""


class PeerRun(msgspec.Struct, frozen=True):
    """What came of a notebook."""

    notebook: Notebook
    failure: str
    """The error that ended the run, its type first; nothing where none did."""


def problems(notebook: Notebook) -> list[str]:
    """What the schema of the notebook's own version has against it."""
    version, minor = notebook.get("nbformat", 4), notebook.get("nbformat_minor", 0)
    found = iter_validate(notebook, version=version, version_minor=minor)  # type: ignore[no-untyped-call]  # no types
    return [error.message for error in found]


def run_with(program: str, interpreter: str, notebooks: Sequence[Path], folder: Path) -> list[PeerRun]:
    """Run notebooks, each in its own folder with a kernel of its own. All go into one process, which starts slowly."""
    folder.mkdir()
    cookie = {COOKIE: os.environ[COOKIE]} if COOKIE in os.environ else {}
    done = subprocess.run(
        [interpreter, str(ROOT / "tests" / "fakes" / "notebook_peer_batch.py"), program, str(folder)],
        input="\n".join(map(str, notebooks)),
        env=plain_environment(HOME=str(folder), **TERMINAL, **cookie),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [
        PeerRun(
            msgspec.json.decode((folder / f"{number}.ipynb").read_bytes()),
            (folder / f"{number}.failure").read_text(encoding="utf-8"),
        )
        for number in range(len(notebooks))
    ]
