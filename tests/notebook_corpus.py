"""Real notebooks to test with, which other projects test themselves with, and an interpreter that runs them."""

import functools
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.fetch_notebooks import is_complete
from tests.environments import CALLER, ENVIRONMENTS, interpreter_of
from tests.source_tree import ROOT

FOLDER = ENVIRONMENTS / "notebook-corpus"


@functools.cache
def corpus(project: str = "") -> list[Path]:
    """The notebooks of all projects or of one, in the same order in every worker. They are read, never changed.

    They are fetched first if they are not there: one worker does so, and the others wait for it.
    """
    if not is_complete(FOLDER):
        fetch()
    return sorted((FOLDER / project).rglob("*.ipynb"))


def corpus_id(path: Path) -> str:
    """The name of a notebook of the corpus in the list of tests: where it is, the same on every machine."""
    return path.relative_to(FOLDER).as_posix()


def notebooks_interpreter() -> str:
    """One with nbclient and papermill, a kernel of Python, and the widgets that nbclient's notebooks use."""
    return interpreter_of("notebooks")


def fetch() -> None:
    """Fetch the corpus with the caller's configuration of pip."""
    done = subprocess.run(
        [sys.executable, "-m", "scripts.fetch_notebooks", str(FOLDER)],
        cwd=ROOT,
        env=CALLER,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0:
        pytest.fail(f"the notebooks could not be fetched:\n{done.stderr}", pytrace=False)
