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
ATTEMPTS = 5
FLOOR = "import anyio, asyncio, dataclasses, inspect, json, logging, msgspec, subprocess, uuid"
MULTIPLE = 2.5

TIMED = """
import time
started = time.process_time()
{statement}
print(time.process_time() - started)
"""


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


def test_the_runtime_costs_a_small_multiple_of_the_libraries_it_stands_on() -> None:
    # A ratio, each side at its best of several runs in turn: machines differ in speed, and may be busy.
    taken = [(seconds(FLOOR), seconds("from pisces import Runtime")) for _ in range(ATTEMPTS)]
    floor, runtime = (min(side) for side in zip(*taken, strict=True))
    assert runtime < MULTIPLE * floor, f"{runtime:.3f} s, its libraries {floor:.3f} s"


def loaded(arguments: list[str]) -> set[str]:
    """The top-level names of all modules that a run of Python loads."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, encoding="utf-8", check=False
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    assert done.returncode == 0, "\n".join(line for line in done.stderr.splitlines() if line not in lines)
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


def seconds(statement: str) -> float:
    """How much work a statement is in a Python of its own."""
    done = subprocess.run(
        [sys.executable, "-c", TIMED.format(statement=statement)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return float(done.stdout)
