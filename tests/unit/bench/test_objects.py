"""The parts of the measurement of objects that need no kernel."""

import ast
import contextlib
import copy
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bench.state.hosts.objects_of_pisces import names_x
from bench.state.objects.case import Case
from bench.state.objects.cases import OF_THE_CATALOGUE, all_cases
from bench.state.objects.journey import CellAnswer, Found, Session, Way, WayBack, travel_all
from bench.state.objects.measure import nothing_unreported, outcome, row, tried_by_all
from tests.state.catalogue import LIBRARIES


def found(name: str = "a list", way: Way = "back", **facts: Any) -> Found:
    return Found(kind="lists", name=name, way=way, **{"before": "[1]", "after": "[1]", "there": True, **facts})


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, "identical"),
        ({"reported": True}, "identical"),
        ({"after": "[2]", "reported": True}, "present"),
        ({"after": None, "reported": True}, "present"),
        ({"after": None, "there": False, "reported": True}, "missing"),
        ({"after": "[2]"}, "not reported"),
        ({"after": None, "there": False}, "not reported"),
        ({"before": None, "after": None, "hung": True}, "not reported"),
    ],
)
def test_an_object_is_what_it_was_or_its_loss_is_reported_or_not(facts: dict[str, Any], expected: str) -> None:
    assert outcome(found(**facts)) == expected


def test_only_objects_that_every_system_tried_are_compared() -> None:
    results = {
        "one": [found("both"), found("only one"), found("hangs", before=None, hung=True), found("both", "anew")],
        "other": [found("both"), found("only one", before=None), found("hangs"), found("both", "anew", before=None)],
    }
    tried = tried_by_all(results)
    assert [(one.name, one.way) for one in tried["one"]] == [("both", "back"), ("hangs", "back")]
    assert [(one.name, one.way) for one in tried["other"]] == [("both", "back"), ("hangs", "back")]


def test_what_was_not_reported_is_named() -> None:
    check = nothing_unreported([found(), found("a view", "anew", after="[2]"), found(after="[2]", reported=True)])
    assert check.met is False
    assert check.value == "1 of 3: lists: a view (crash)"
    assert nothing_unreported([found()]).met is True


def test_a_row_counts_the_outcomes_and_has_the_medians() -> None:
    figures = row(
        "Pisces, undo",
        [
            found(keep_ms=1.0, back_ms=5.0, kept_bytes=1024),
            found(after="[2]", reported=True, keep_ms=2.0, back_ms=6.0, kept_bytes=2048),
            found(after=None, there=False, reported=True, keep_ms=3.0, back_ms=7.0, kept_bytes=4096),
            found(after=None, there=False, hung=True),
        ],
    ).figures
    assert figures[:6] == (4, 1, 1, 1, 1, 1)
    assert figures[6:8] == (2.0, 6.0)
    assert row("nothing", []).figures[6:] == (None, None, None)


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ("x (a thread)", True),
        ("x", True),
        ("what x, y had in common (each has a copy of its own now)", True),
        ("thread 'x'", False),
        ("xs (a socket)", False),
        ("y (a view of x)", False),
    ],
)
def test_a_report_is_about_the_variable_itself(missing: str, expected: bool) -> None:
    assert names_x(missing) is expected


def test_every_case_can_be_told_from_the_others() -> None:
    names = [(case.kind, case.name) for case in all_cases()]
    assert len(set(names)) == len(names)


def test_every_case_is_code_that_compiles() -> None:
    for case in all_cases():
        for code, mode in ((case.setup, "exec"), (case.make, "exec"), (case.change, "exec"), (case.look, "eval")):
            compile(code, case.name, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_the_catalogue_has_the_libraries_that_are_taken_from_it() -> None:
    assert {library.name for library in LIBRARIES} >= set(OF_THE_CATALOGUE)


class ScriptedSession:
    """Runs cells here, and brings back a deep copy, or nothing at all."""

    def __init__(self, *, keeps: bool, hangs_at: str = "") -> None:
        self._keeps = keeps
        self._hangs_at = hangs_at
        self._names: dict[str, Any] = {}
        self._marked: dict[str, Any] = {}

    async def run(self, code: str, seconds: float) -> CellAnswer:
        if self._hangs_at and self._hangs_at in code:
            return CellAnswer(trouble="it did not answer", seconds=seconds, hung=True)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                exec(code, self._names)
            except Exception as error:  # noqa: BLE001 - a cell may raise anything
                return CellAnswer(printed.getvalue(), trouble=str(error))
        return CellAnswer(printed.getvalue())

    async def mark(self) -> None:
        self._marked = {name: copy.deepcopy(value) for name, value in self._names.items() if name == "x"}

    def kept_bytes(self) -> int:
        return 7

    async def bring_back(self, way: Way) -> WayBack:
        if way == "anew":
            del self._names["x"]
        if self._keeps:
            self._names.update(copy.deepcopy(self._marked))
        return WayBack(reported=False, said="it is back", seconds=0.5)

    def warned(self) -> str:
        return ""


async def travelled(case: Case, **how: Any) -> list[Found]:
    @asynccontextmanager
    async def sessions(folder: Path) -> AsyncIterator[Session]:
        yield ScriptedSession(**how)

    return await travel_all([case], sessions)


LIST = Case("a list", "x = [1]", "x", "x.append(2)", "lists")


async def test_an_object_that_is_brought_back_is_identical_both_ways() -> None:
    ways = await travelled(LIST, keeps=True)
    assert [(one.way, outcome(one), one.back_ms, one.kept_bytes) for one in ways] == [
        ("back", "identical", 500.0, 7),
        ("anew", "identical", 500.0, 7),
    ]


async def test_an_object_that_stays_changed_or_goes_is_not_identical() -> None:
    back, anew = await travelled(LIST, keeps=False)
    assert (back.before, back.after, back.there, outcome(back)) == ("[1]", "[1, 2]", True, "not reported")
    assert (anew.before, anew.after, anew.there, outcome(anew)) == ("[1]", None, False, "not reported")


async def test_an_object_that_cannot_be_made_or_changed_is_not_tried() -> None:
    (unmade,) = await travelled(Case("none", "x = 1 / 0", "x"), keeps=True)
    assert (unmade.before, unmade.hung) == (None, False)
    assert "division" in unmade.said
    (unchanged,) = await travelled(Case("none", "x = 1", "x", "x.append(1)"), keeps=True)
    assert unchanged.before is None


async def test_an_object_whose_making_hangs_counts_as_hung() -> None:
    (one,) = await travelled(LIST, keeps=True, hangs_at="x = [1]")
    assert (one.hung, outcome(one)) == (True, "not reported")


async def test_an_object_without_a_session_is_not_tried_and_stops_no_other() -> None:
    @asynccontextmanager
    async def sessions(folder: Path) -> AsyncIterator[Session]:
        raise RuntimeError("the kernel died")
        yield ScriptedSession(keeps=True)

    all_found = await travel_all([LIST, LIST], sessions)
    assert [(one.before, one.said) for one in all_found] == [(None, "there is no session: the kernel died")] * 2
