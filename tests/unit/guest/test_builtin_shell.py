import linecache
import sys

import pytest

from tests.unit.guest.recording import RecordedShell


def test_the_last_expression_is_displayed(shell: RecordedShell) -> None:
    assert shell.ok("x = 41\nx + 1") == "42"
    assert shell.channel.events == [("result", {"text/plain": "42"}, {}, 1)]


@pytest.mark.parametrize(
    "cell", ["1+1;", "1+1 ;  # shown?", "(1 +\n 1);", "1+1; # a\n\n# b\n", "x = 1", "None", "'é'; \r\n", "# nothing"]
)
def test_a_cell_that_shows_nothing(shell: RecordedShell, cell: str) -> None:
    assert shell.ok(cell) is None


@pytest.mark.parametrize("cell", ["1+1 # ;", "x = ';'; 2", "(\n1 # ;\n+1)", "';'\n2 # ';'"])
def test_a_semicolon_elsewhere_hides_nothing(shell: RecordedShell, cell: str) -> None:
    assert shell.ok(cell) == "2"


def test_results_can_be_used_by_later_cells(shell: RecordedShell) -> None:
    shell.ok("'one'")
    shell.ok("'two'")
    shell.ok("'three'")
    assert shell.ok("_, __, ___, _2, Out[1], In[3]") == "('three', 'two', 'one', 'two', 'one', \"'three'\")"


def test_an_underscore_of_the_users_own_stays(shell: RecordedShell) -> None:
    shell.ok("_ = 'mine'")
    shell.ok("5")
    assert shell.ok("_, _2") == "('mine', 5)"


def test_the_outputs_do_not_hold_themselves(shell: RecordedShell) -> None:
    shell.ok("1")
    assert shell.ok("Out") == "{1: 1}"
    assert shell.ok("len(Out), _") == "(1, 1)"


def test_an_underscore_that_was_deleted_comes_back(shell: RecordedShell) -> None:
    shell.ok("1")
    shell.ok("del _")
    shell.ok("2")
    assert shell.ok("_") == "2"


def test_a_hidden_result_is_not_the_last_one(shell: RecordedShell) -> None:
    shell.ok("1")
    shell.ok("2;")
    assert shell.ok("_") == "1"


def test_a_silent_cell_shows_nothing_and_is_not_counted(shell: RecordedShell) -> None:
    shell.ok("1")
    assert shell.run("y = 2\ny", silent=True).status == "ok"
    assert shell.channel.events == []
    assert shell.shell.execution_count == 1
    assert shell.ok("_ + y") == "3"


def test_a_cell_outside_of_history_shows_its_value_and_is_not_counted(shell: RecordedShell) -> None:
    shell.run("7", store_history=False)
    assert shell.channel.events == [("result", {"text/plain": "7"}, {}, 0)]
    assert "Out" in shell.namespace
    assert shell.namespace["Out"] == {}


def test_a_cell_that_failed_is_counted(shell: RecordedShell) -> None:
    shell.error("1/0")
    assert shell.shell.execution_count == 1


def test_a_blank_cell_is_not_counted(shell: RecordedShell) -> None:
    assert shell.run(" \n\n").status == "ok"
    assert shell.shell.execution_count == 0


def test_await_works_at_the_top_level(shell: RecordedShell) -> None:
    assert shell.ok("import asyncio\nx = await asyncio.sleep(0, 5)\nx + await asyncio.sleep(0, 1)") == "6"


def test_what_a_cell_sets_in_its_context_is_there_for_its_last_expression(shell: RecordedShell) -> None:
    cell = "import asyncio, contextvars\nv = contextvars.ContextVar('v')\nv.set(3)\nawait asyncio.sleep(0)\nv.get()"
    assert shell.ok(cell) == "3"


def test_an_error_in_an_await_starts_at_the_cell(shell: RecordedShell) -> None:
    outcome = shell.error("import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    1/0\nawait f()")
    assert [line for line in outcome.traceback if line.startswith("  File")] == [
        '  File "<cell 1>", line 5, in <module>',
        '  File "<cell 1>", line 4, in f',
    ]


def test_future_imports_last(shell: RecordedShell) -> None:
    shell.ok("from __future__ import annotations\ndef f(x: unknown): ...\n1")
    assert shell.ok("def g(x: unknown_too): ...\ng.__annotations__") == "{'x': 'unknown_too'}"


def test_our_own_future_imports_are_not_the_users(shell: RecordedShell) -> None:
    assert shell.error("def g(x: unknown): ...").ename == "NameError"


@pytest.mark.parametrize(
    ("argument", "code"), [("", 0), ("0", 0), ("3", 3), ("None", 0), ("'why'", 1), ("True", 1), ("(1, 2)", 1)]
)
def test_system_exit_is_an_error_with_a_code(shell: RecordedShell, argument: str, code: int) -> None:
    outcome = shell.error(f"raise SystemExit({argument})")
    assert (outcome.ename, outcome.exit_code) == ("SystemExit", code)
    assert outcome.traceback == [f"SystemExit: {outcome.evalue}" if outcome.evalue else "SystemExit"]
    assert outcome.evalue != "None"


def test_an_interrupted_cell_says_so(shell: RecordedShell) -> None:
    outcome = shell.run("raise KeyboardInterrupt")
    assert (outcome.status, outcome.ename, outcome.exit_code) == ("interrupted", "KeyboardInterrupt", None)


@pytest.mark.parametrize("cell", ["x\0y", "'\ud800'" + "\ud800", "(" * 300, "raise BaseException('x')", "del In; 1"])
def test_no_cell_breaks_the_shell(shell: RecordedShell, cell: str) -> None:
    shell.run(cell)
    assert shell.ok("1 + 1") == "2"


def test_the_source_of_a_function_of_a_cell_can_be_read(shell: RecordedShell) -> None:
    shell.ok("1\ndef f():\n    return 'a\x0cb'\n")
    linecache.checkcache()
    assert shell.ok("import inspect\ninspect.getsource(f)") == repr("def f():\n    return 'a\x0cb'\n")


def test_the_last_error_can_be_looked_at(shell: RecordedShell) -> None:
    shell.error("1/0")
    assert isinstance(sys.last_value, ZeroDivisionError)


def test_reset_keeps_the_prelude_and_the_count(shell: RecordedShell) -> None:
    shell.shell.given.give({"helper": len})
    shell.ok("x = 1\nhelper = 3")
    shell.ok("%reset -f")
    assert shell.error("x").ename == "NameError"
    assert shell.ok("helper('ab'), callable(display), __name__, _") == "(2, True, '__main__', '')"
    assert shell.shell.execution_count == 4


def test_libraries_do_not_take_it_for_ipython(shell: RecordedShell) -> None:
    assert shell.error("get_ipython()").ename == "NameError"
