"""Cells that run tests of CPython's own suite, one class at a time, in a session of ours."""

import json
import re
from typing import Any

from pisces.runtime import Runtime
from tests.fakes.runtimes import details, kernel_of

SETUP = """
import importlib, json, os, signal, sys, types, unittest, warnings
from test import support

support.use_resources = []
support.verbose = 0
warnings.simplefilter("ignore")


class Outcomes(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.by_test = {}

    def addSuccess(self, test):
        self.by_test.setdefault(test.id(), "ok")

    def addFailure(self, test, error):
        self.by_test[test.id()] = "failed: " + str(error[1])[-300:]

    def addError(self, test, error):
        self.by_test[test.id()] = f"raised {error[0].__name__}: {str(error[1])[-300:]}"

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.addError(test, error)

    def addSkip(self, test, reason):
        self.by_test[test.id()] = "skipped"

    def addExpectedFailure(self, test, error):
        self.by_test[test.id()] = "failed as expected"

    def addUnexpectedSuccess(self, test):
        self.by_test[test.id()] = "succeeded unexpectedly"


def module_of(name):
    if not name.startswith("multiprocessing by "):
        return importlib.import_module(name)
    made = sys.modules.get(name)
    if made is None:
        made = sys.modules[name] = types.ModuleType(name)
        from test import _test_multiprocessing
        _test_multiprocessing.install_tests_in_module_dict(vars(made), name.rpartition(" ")[2])
    return made


def classes_of(name):
    found = {}
    pending = [unittest.defaultTestLoader.loadTestsFromModule(module_of(name))]
    while pending:
        for part in pending.pop():
            if isinstance(part, unittest.TestSuite):
                pending.append(part)
            else:
                found.setdefault(class_name(name, type(part)), []).append(part)
    return found


def class_name(name, kind):
    if not hasattr(module_of(name), "__path__"):
        return kind.__qualname__
    return kind.__module__.rpartition(".")[2] + "." + kind.__qualname__  # Modules of a package may share names.


def outcomes_of(name, kind):
    outcomes = Outcomes()
    kept = signal.signal(signal.SIGINT, signal.default_int_handler)  # Some tests interrupt themselves.
    try:
        unittest.TestSuite(classes_of(name).get(kind, [])).run(outcomes)
    finally:
        signal.signal(signal.SIGINT, kept)
    support.reap_children()
    return outcomes.by_test
"""
CELL_SECONDS = 100.0
_NOT_KEPT = re.compile(r"No checkpoint was made .* the last one is (\d+) cells? back")

Outcomes = dict[str, str]
"""What became of each test, by its id."""


class CellFailed(Exception):
    """A cell ended otherwise than well: the message says how."""


class SuiteSession:
    """A session that runs test classes, each in a cell of its own, with or without checkpoints between them."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._cells_not_kept = 0
        """How many cells back the last result says that the last checkpoint is."""

    async def begin(self) -> None:
        """Run the cells that lie before the tests."""
        for code in (SETUP, "before = list(range(1000))"):
            ready = await self._runtime.python(code=code, timeout=CELL_SECONDS)
            assert details(ready).outcome == "ok", ready.text

    async def classes(self, module: str) -> list[str]:
        """The test classes of a module."""
        named: list[str] = await self._json(f"sorted(classes_of({module!r}))")
        return named

    async def outcomes(self, module: str, kind: str) -> Outcomes:
        """Run one class; what ends the cell otherwise than well is told as an outcome of the class."""
        try:
            told: Outcomes = await self._json(f"outcomes_of({module!r}, {kind!r})")
        except CellFailed as failure:
            return {f"{module}.{kind}": str(failure)}
        return told

    async def crash_and_come_back(self) -> None:
        """Kill the kernel: the session must be back, as far as the results until now have said."""
        crashed = await self._runtime.python(code="import os; os.kill(os.getpid(), 9)", timeout=CELL_SECONDS)
        restore = kernel_of(crashed).restore
        assert restore is not None, crashed.text
        assert restore.cells_lost <= self._cells_not_kept, crashed.text
        back = await self._runtime.python(code="len(before)", timeout=CELL_SECONDS)
        assert back.text == "1000", f"{crashed.text}\n{back.text}"

    async def _json(self, expression: str) -> Any:
        code = f"with open('told.json', 'w', encoding='utf-8') as told:\n    json.dump({expression}, told)"
        ran = await self._runtime.python(code=code, timeout=CELL_SECONDS)
        self._cells_not_kept = sum(int(cells) for cells in _NOT_KEPT.findall("\n".join(details(ran).notices)))
        if details(ran).outcome != "ok":
            raise CellFailed(f"{details(ran).outcome}: {ran.text[-300:]}")
        return json.loads((self._runtime.cwd / "told.json").read_text(encoding="utf-8"))
