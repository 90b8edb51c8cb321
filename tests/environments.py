"""The interpreters that the tests run code in: virtual environments, made once and kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.source_tree import ROOT

CALLER = dict(os.environ)
"""The environment that pytest was started with: set-ups need the caller's pip configuration."""

ENVIRONMENTS = Path(CALLER.get("PISCES_TEST_ENVS", ROOT / ".envs"))


def interpreter_of(name: str, requirements: str | None = None) -> str:
    """The interpreter of an environment, which is made first if it is not complete."""
    target = ENVIRONMENTS / name
    command = [sys.executable, str(ROOT / "scripts" / "make_environment.py"), str(target)]
    if requirements:
        command += ["--requirements", str(ROOT / "requirements" / requirements)]
    done = subprocess.run(
        command, env=CALLER, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        pytest.fail(f"the environment {target} could not be made:\n{done.stderr}", pytrace=False)
    return str(target / "bin" / "python")
