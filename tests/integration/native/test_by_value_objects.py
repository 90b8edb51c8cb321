"""What a restore by value brings back is as it was, or it is named as missing: object by object.

Both interpreters run the same cases: one has nothing but the standard library, the other cloudpickle, numpy, pandas.
"""

import json
import re

import pytest

from pisces.kernels.native.kernel import NativeKernel
from tests.environments import interpreter_of
from tests.fakes.drive import ok, run
from tests.integration.native.by_value_cases import (
    CLASSES,
    CONTAINERS,
    ENUMS,
    FUNCTIONS,
    NUMPY,
    PANDAS,
    SETTINGS,
    TORCH,
    Case,
)
from tests.integration.native.conftest import StartKernel
from tests.integration.native.keeping import NATIVE_THREAD, Keep, crash_and_come_back

IMPORTS = """
import abc, array, collections, collections.abc, contextlib, contextvars, copy, ctypes, dataclasses, datetime, decimal
import enum, fractions, functools, inspect, io, ipaddress, itertools, locale, logging, math, numbers, os, pathlib
import queue, random, re, signal, socket, string, sys, tempfile, threading, types, typing, uuid, warnings, weakref
"""
pytestmark = pytest.mark.processes
LANGUAGE = [*ENUMS, *CLASSES, *FUNCTIONS, *CONTAINERS]


@pytest.fixture(scope="module")
def data_python() -> str:
    return interpreter_of("data")


@pytest.fixture(params=["plain_python", "data_python"], ids=["plain", "cloudpickle"])
def with_and_without(request: pytest.FixtureRequest) -> str:
    """An interpreter without any package, and one with cloudpickle."""
    path: str = request.getfixturevalue(request.param)
    return path


async def problems(kernel: NativeKernel, keep: Keep, imports: str, cases: list[Case]) -> list[str]:
    """What is not as the cases say, after the kernel has died and come back by value."""
    await ok(kernel, imports + NATIVE_THREAD)
    before, found = [], []
    for number, case in enumerate(cases):
        made = await run(kernel, _of(case.make, number))
        before.append(await _checked(kernel, case, number))
        if made.done.status != "ok" or before[-1].startswith("raised"):
            found.append(f"{case.name}: {before[-1]} {made.explained if made.done.status != 'ok' else ''}")
    kept = await keep(kernel)
    revival = await crash_and_come_back(kernel, kept)
    assert revival.how == "by_value"
    for number, case in enumerate(cases):
        after = await _checked(kernel, case, number)
        named = [entry for entry in revival.missing if re.search(rf"\bc{number}_", entry)]
        if case.back and (after != before[number] or named):
            found.append(f"{case.name}: {before[number]} became {after}; named: {named}")
        elif not case.back and not named:
            found.append(f"{case.name}: not named; {before[number]} became {after}")
    others = [entry for entry in revival.missing if not re.search(r"\bc\d+_|^thread ", entry)]
    return found + [f"also missing: {entry}" for entry in others]


def _of(code: str, number: int) -> str:
    """The code with variables that belong to one case."""
    return re.sub(r"\$(\w+)", rf"c{number}_\1", code)


async def _checked(kernel: NativeKernel, case: Case, number: int) -> str:
    """The value of the check, or what it raised, in one line."""
    code = f"""
import traceback
try:
    print("value", ascii({_of(case.check, number)}))
except Exception:
    print("raised", traceback.format_exc()[-300:])
"""
    ran = await run(kernel, code)
    return re.sub(r" at 0x\w+", "", " ".join(ran.stdout.split())) or json.dumps(ran.explained)


async def test_objects_of_the_language_are_as_they_were_or_named(
    start: StartKernel, with_and_without: str, keep: Keep
) -> None:
    found = await problems(await start(with_and_without), keep, IMPORTS, LANGUAGE)
    assert not found, "\n".join(found)


async def test_settings_of_the_process_are_as_they_were(start: StartKernel, with_and_without: str, keep: Keep) -> None:
    found = await problems(await start(with_and_without), keep, IMPORTS, SETTINGS)
    assert not found, "\n".join(found)


async def test_memory_that_was_shared_still_is_or_its_variables_are_named(
    start: StartKernel, data_python: str, keep: Keep
) -> None:
    cases = [*NUMPY, *PANDAS]
    imports = f"{IMPORTS}import numpy as np, pandas as pd\n"
    found = await problems(await start(data_python), keep, imports, cases)
    assert not found, "\n".join(found)


@pytest.mark.heavy
async def test_tensors_and_models_share_what_they_shared(start: StartKernel, heavy_python: str, keep: Keep) -> None:
    imports = f"{IMPORTS}import numpy as np, torch\n"
    found = await problems(await start(heavy_python), keep, imports, TORCH)
    assert not found, "\n".join(found)
