"""Importing the modules of `python.preload` before there is a kernel, as far as all kernels can share them."""

from __future__ import annotations

import importlib
import threading

from . import fork_safety


class Unfit(Exception):
    """The module started something that no fork can take along; a template that has it cannot be used."""

    def __init__(self, module: str, why: str) -> None:
        super().__init__(why)
        self.module = module


def import_modules(names: list[str]) -> list[str]:
    """Import them; returns a warning for each that could not be imported. Raises `Unfit` for one that must not be."""
    warnings = []
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException as error:  # Code of a library: whatever it raises, kernels can do without it.
            warnings.append(f"python.preload: {name} could not be imported ({type(error).__name__}: {error})")
        started = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
        why = f"it starts a thread ({started[0]})" if started else fork_safety.by_value_reason()
        if why:
            raise Unfit(name, why)
    return warnings
