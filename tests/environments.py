"""The interpreters that the tests run code in: virtual environments, made once and kept."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.source_tree import ROOT

CALLER = dict(os.environ)
"""The environment that pytest was started with: set-ups need the caller's pip configuration."""

ENVIRONMENTS = Path(CALLER.get("PISCES_TEST_ENVS", ROOT / ".envs"))


def interpreter_of(name: str) -> str:
    """The interpreter of an environment, which is made first if it is not complete.

    It has what the requirements of its name list; `plain` has nothing.
    """
    target = ENVIRONMENTS / name
    command = [sys.executable, str(ROOT / "scripts" / "make_environment.py"), str(target)]
    if name != "plain":
        command += ["--requirements", str(ROOT / "requirements" / f"{name}.txt")]
    done = subprocess.run(
        command, env=CALLER, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        pytest.fail(f"the environment {target} could not be made:\n{done.stderr}", pytrace=False)
    return str(target / "bin" / "python")


def jupyter_interpreter() -> str:
    """One with Jupyter's servers and kernels of Python, `bash` and `deno` (JavaScript and TypeScript)."""
    interpreter = interpreter_of("jupyter")
    beside = Path(interpreter).parent
    install_kernelspec("bash", "bash", [interpreter, "-m", "bash_kernel", "-f", "{connection_file}"])
    install_kernelspec(
        "deno", "typescript", [str(beside / "deno"), "jupyter", "--kernel", "--conn", "{connection_file}"]
    )
    return interpreter


def install_kernelspec(name: str, language: str, argv: list[str]) -> None:
    """Describe a kernel to Jupyter, as the kernel's own installer would; any number of workers may do so at once."""
    folder = ENVIRONMENTS / "jupyter" / "share" / "jupyter" / "kernels" / name
    wanted = json.dumps({"argv": argv, "display_name": name.capitalize(), "language": language, "env": {}}, indent=1)
    target = folder / "kernel.json"
    if target.is_file() and target.read_text(encoding="utf-8") == wanted:
        return
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f"kernel.json.{os.getpid()}"
    unfinished.write_text(wanted, encoding="utf-8")
    unfinished.replace(target)


def enterprise_interpreter() -> str:
    """One with Enterprise Gateway, which can be installed for Python 3.11 only."""
    if sys.version_info >= (3, 12):
        pytest.skip("Enterprise Gateway wants a pyzmq that is not built for this release of Python")
    return interpreter_of("enterprise")
