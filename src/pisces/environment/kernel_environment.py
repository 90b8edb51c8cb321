"""The whole environment of a kernel's process."""

import os
from collections.abc import Mapping

from pisces.environment.filter import filter_environment
from pisces.environment.interpreter import Interpreter
from pisces.settings.schema import Settings


def kernel_environment(
    interpreter: Interpreter,
    environ: Mapping[str, str],
    settings: Settings,
    *,
    cwd: str = "",
) -> dict[str, str]:
    """What a kernel of this interpreter sees: the filtered environment, its own virtual environment active.

    `cwd` is the folder that a relative PYTHONPATH is relative to: a kernel's process begins elsewhere. Variables of
    Pisces itself are not among them: they differ from session to session.
    """
    env = filter_environment(environ, settings.python.env.allow)
    _activate(interpreter, env)
    if env.get("PYTHONPATH"):
        entries = env["PYTHONPATH"].split(os.pathsep)
        env["PYTHONPATH"] = os.pathsep.join(os.path.join(cwd, entry) for entry in entries)
    return env


def _activate(interpreter: Interpreter, env: dict[str, str]) -> None:
    """Do what a virtual environment's `activate` does, and undo it for the one that was active and is not used."""
    entries = env.get("PATH", os.defpath).split(os.pathsep)
    before = env.pop("VIRTUAL_ENV", "")
    if before:
        left = os.path.join(before, "bin")
        entries = [entry for entry in entries if os.path.normpath(entry) != os.path.normpath(left)]
    root = interpreter.venv or interpreter.conda
    if root:
        first = os.path.join(root, "bin")
        entries = [first, *(entry for entry in entries if entry != first)]
    if interpreter.venv:
        env["VIRTUAL_ENV"] = interpreter.venv
    env["PATH"] = os.pathsep.join(entries)
