"""Slow imports are paid by those who use them: starting is quick because little is loaded."""

import subprocess
import sys

import pytest

SLOW = {
    "IPython",
    "PIL",
    "html_to_markdown",
    "hypothesis",
    "jupyter_client",
    "mcp",
    "nbformat",
    "numpy",
    "pandas",
    "psutil",
    "pytest",
    "starlette",
    "textual",
    "uvicorn",
    "zmq",
}
NEEDED = {"anyio", "msgspec", "typing_extensions"}
FOR_LATER = {"pisces.cli", "pisces.host"}


@pytest.mark.parametrize(
    "arguments",
    [["-c", "import pisces"], ["-c", "from pisces import Runtime"], ["-m", "pisces", "--version"]],
    ids=["package", "runtime", "version"],
)
def test_starting_loads_no_slow_library(arguments: list[str]) -> None:
    assert loaded(arguments) & SLOW == set()


def test_the_package_alone_loads_no_other() -> None:
    before = loaded(["-c", "pass"])
    assert loaded(["-c", "import pisces"]) - before - sys.stdlib_module_names == {"pisces"}


def test_the_runtime_loads_only_what_a_cell_needs() -> None:
    # What it loads is counted here; how long that takes depends on the machine and is measured by `make bench`.
    printing = "import sys; bare = set(sys.modules); from pisces import Runtime; print(*set(sys.modules) - bare)"
    added = set(run(["-c", printing]).stdout.split())
    assert "pisces.runtime" in added
    assert {name.partition(".")[0] for name in added} - sys.stdlib_module_names - {"pisces"} <= NEEDED
    assert added & FOR_LATER == set()


def loaded(arguments: list[str]) -> set[str]:
    """The top-level names of all modules that a run of Python loads, or looks for."""
    errors = run(["-X", "importtime", *arguments]).stderr.splitlines()
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in errors if line.startswith("import time:")}


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, "\n".join(
        line for line in done.stderr.splitlines() if not line.startswith("import time:")
    )
    return done
