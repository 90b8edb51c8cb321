"""The objects that both systems keep: of each kind a few, how each is made, changed and looked at.

They are of the kinds that Kishu lists as supported (numbers, tables, figures, models, what the standard library has),
and of those that a list of classes leaves out: objects that share parts, and the state of the process itself. Objects
of the language, files, threads and tasks are those of the catalogue of the tests.
"""

from collections.abc import Iterator

import msgspec

from bench.state.objects import library_cases as of_libraries
from bench.state.objects import plain_cases as plain
from bench.state.objects.case import Case
from tests.state.catalogue import LIBRARIES, Library

OF_THE_CATALOGUE = (
    "the language",
    "standard library: files and databases",
    "standard library: threads",
    "standard library: threads that run",
    "standard library: asyncio",
)


def all_cases() -> list[Case]:
    """Every case with its kind and its set-up, those of the catalogue last."""
    own = [
        msgspec.structs.replace(case, kind=kind, setup=setup)
        for kind, (setup, cases) in _KINDS.items()
        for case in cases
    ]
    return [*own, *(case for library in LIBRARIES if library.name in OF_THE_CATALOGUE for case in _of(library))]


def _of(library: Library) -> Iterator[Case]:
    """What the catalogue has of a library: the object is used, and then given up."""
    for entry in library.entries:
        # One removes its folder when it is given up, and files are never taken back.
        change = "pass" if entry.name == "tempfile.TemporaryDirectory" else "x = None"
        yield Case(entry.name, entry.make, entry.use, change, library.name, library.setup)


_BESIDE_POLARS = "import polars\n_ = polars.DataFrame({'a': range(50_000)}).sum()\n"
"""Where its threads run, Pisces brings the state back by value: what is shared, and the process, have to come along."""

_KINDS: dict[str, tuple[str, tuple[Case, ...]]] = {
    "sharing": (plain.SHARING, plain.SHARED),
    "the process": (plain.PROCESS, plain.OF_THE_PROCESS),
    "standard library": (plain.VALUES_SETUP, plain.VALUES),
    "numpy": ("import numpy as np", of_libraries.NUMPY),
    "pandas": (of_libraries.PANDAS_SETUP, of_libraries.PANDAS),
    "matplotlib": (of_libraries.FIGURES_SETUP, of_libraries.FIGURES),
    "scikit-learn": (of_libraries.MODELS_SETUP, of_libraries.MODELS),
    "scipy, statsmodels, networkx, sympy": (of_libraries.SCIENCE_SETUP, of_libraries.SCIENCE),
    "torch": (of_libraries.TORCH_SETUP, of_libraries.TORCH),
    "pictures": (of_libraries.PICTURES_SETUP, of_libraries.PICTURES),
    "tables and records": (of_libraries.TABLES_SETUP, of_libraries.TABLES),
    "polars": (f"{_BESIDE_POLARS}import polars as pl", of_libraries.POLARS),
    "sharing, beside polars": (f"{_BESIDE_POLARS}{plain.SHARING}", plain.SHARED),
    "the process, beside polars": (f"{_BESIDE_POLARS}{plain.PROCESS}", plain.OF_THE_PROCESS),
    "numpy, beside polars": (f"{_BESIDE_POLARS}import numpy as np", of_libraries.NUMPY),
    "torch, beside polars": (f"{_BESIDE_POLARS}{of_libraries.TORCH_SETUP}", of_libraries.TORCH),
}
