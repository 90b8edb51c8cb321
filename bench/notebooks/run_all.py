"""A notebook of 100 trivial cells that is run: kernel started, cells run, file written, kernel ended."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.notebooks.compared import NOT_THERE, OURS, THEIRS, Figures, folder_of, run_program, time_process, versions
from bench.notebooks.samples import TRIVIAL, write_trivial
from bench.report import Check, Column, Measurement, Row
from bench.sandbox import Sandbox

_ROUNDS = 7
_AIM = 5.0
_PISCES, _NBCLIENT = "Pisces, run_all, imports done", "nbformat and nbclient, imports done"
_OUR_PROGRAM, _THEIR_PROGRAM = "Pisces, a program as a whole", "nbformat and nbclient, a program as a whole"
_OUR_COMMAND, _THEIR_COMMAND = "pisces notebook run", "jupyter execute --inplace"
_PAIRS = {_PISCES: _NBCLIENT, _OUR_PROGRAM: _THEIR_PROGRAM, _OUR_COMMAND: _THEIR_COMMAND}
_Program = Callable[[Path], Figures]


def measure(sandbox: Sandbox) -> Measurement:
    figures, problems = _figures(sandbox, sandbox.notebooks) if sandbox.notebooks is not None else ({}, {})
    used = "" if sandbox.notebooks is None else f" With {versions(sandbox.notebooks)}."
    return Measurement(
        title=f"A notebook of {TRIVIAL} trivial cells is run",
        how="Assignments, prints and expressions in turns: a new kernel is started, the cells run, the outputs are "
        "written to the file and the kernel ends, all within the time; the native kernel with IPython's shell, and "
        f"ipykernel, on the same interpreter. Median and best of {_ROUNDS} processes of each after one that is not "
        f"counted, taking turns. All give the same outputs and counts.{used}",
        columns=(Column("median", "ms"), Column("best", "ms"), Column("times faster than its peer")),
        rows=tuple(_row(name, figures) for name in figures),
        checks=tuple(_check(name, figures, problems) for name in _PAIRS),
    )


def _figures(sandbox: Sandbox, interpreter: str) -> tuple[dict[str, Figures], dict[str, str]]:
    """By name; and of those that could not be run, why."""
    folder = folder_of(sandbox)
    programs = _programs(sandbox, interpreter)
    figures = {name: Figures() for name in programs}
    problems: dict[str, str] = {}
    try:
        write_trivial(folder / "original.ipynb")
        for number in range(_ROUNDS + 1):
            results: dict[str, list[Any]] = {}
            for name, program in programs.items():
                path = shutil.copyfile(folder / "original.ipynb", folder / "trivial.ipynb")
                try:
                    taken = program(path)
                except RuntimeError as error:
                    if name not in (_OUR_COMMAND, _THEIR_COMMAND):  # How a command starts depends on the machine.
                        raise
                    problems[name] = f"it does not work here: {error}"
                    continue
                results[name] = _results(path)
                if number:
                    figures[name].add(taken)
            _must_be_the_same(results)
    finally:
        shutil.rmtree(folder)
    return figures, problems


def _programs(sandbox: Sandbox, interpreter: str) -> dict[str, _Program]:
    theirs = (interpreter, *THEIRS, "nbclient")
    command = (sys.executable, "-m", "pisces", "notebook", "run", "--interpreter", interpreter)
    execute = str(Path(interpreter).with_name("jupyter-execute"))
    return {
        _PISCES: lambda path: run_program(sandbox, *OURS, "run", interpreter, str(path)),
        _NBCLIENT: lambda path: run_program(sandbox, *theirs, "run", str(path)),
        _OUR_PROGRAM: lambda path: time_process(sandbox, *OURS, "run-once", interpreter, str(path)),
        _THEIR_PROGRAM: lambda path: time_process(sandbox, *theirs, "run-once", str(path)),
        _OUR_COMMAND: lambda path: time_process(sandbox, *command, str(path)),
        _THEIR_COMMAND: lambda path: time_process(sandbox, execute, "--inplace", str(path)),
    }


def _results(path: Path) -> list[Any]:
    """The outputs and counts of a notebook that has run; texts in one piece, however the file has them.

    What a cell printed may be several outputs after nbclient: as many as it came in messages.
    """
    found: list[Any] = []
    for cell in json.loads(path.read_bytes())["cells"]:
        outputs = [_joined(output) for output in cell["outputs"]]
        printed = "".join(output["text"] for output in outputs if output["output_type"] == "stream")
        others = [output for output in outputs if output["output_type"] != "stream"]
        found.append((cell["execution_count"], printed, others))
    return found


def _joined(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _joined(inner) for key, inner in value.items()}
    return "".join(value) if isinstance(value, list) else value


def _must_be_the_same(results: dict[str, list[Any]]) -> None:
    """Raises `RuntimeError` when one of them did less than another."""
    expected = results[_NBCLIENT]
    if expected[-1][0] != TRIVIAL:
        raise RuntimeError(f"nbclient did not run all cells: {expected[-1]}")
    for name, found in results.items():
        for index, (theirs, ours) in enumerate(zip(expected, found, strict=True)):
            if theirs != ours:
                raise RuntimeError(f"{name} made {ours} of cell {index}, and nbclient {theirs}")


def _row(name: str, figures: dict[str, Figures]) -> Row:
    found = figures[name]
    if not found.seconds:
        return Row(name, (None, None, None))
    peer = _PAIRS.get(name)
    times = None if peer is None else figures[peer].median / found.median
    return Row(name, (found.median * 1e3, min(found.seconds) * 1e3, times))


def _check(name: str, figures: dict[str, Figures], problems: dict[str, str]) -> Check:
    aim = f"{name}: at least {_AIM:g} times faster than {_PAIRS[name]}"
    problem = problems.get(name) if figures else NOT_THERE
    if problem is not None:
        return Check(aim=aim, value=problem, met=None)
    times = figures[_PAIRS[name]].median / figures[name].median
    return Check(aim=aim, value=f"{times:.1f} times", met=times >= _AIM)
